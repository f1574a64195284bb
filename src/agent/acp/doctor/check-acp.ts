import { rm } from 'node:fs/promises';
import { BatonError, toBatonError } from '../../../core/baton-error.ts';
import { type Finding, failed, failedBy, passed } from '../../../core/finding.ts';
import type { AccountSettings } from '../../../core/settings.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import type { AgentEvent } from '../../agent.ts';
import type { AgentDoctorParts } from '../../backend.ts';
import { makeTrialFolder, trialRequest } from '../../trial-session.ts';
import { type Fields, fieldsOf, listOf, shown, textOf } from '../../wire/fields.ts';
import { createAcpAgent } from '../acp-agent.ts';
import { type AcpOptions, acpOptions, acpProfile } from '../settings.ts';

/** Limit for the check of one account. */
const accountMs = 60_000;
const check = 'acp';

/**
 * Checks for each account whether the agent starts, speaks the protocol, has the mode and the model of the workflow
 * file, and opens a session without asking for a login. No turn begins, so no model is called and nothing shows whether
 * the server accepts the login.
 */
export async function checkAcp(parts: AgentDoctorParts): Promise<readonly Finding[]> {
  const accounts = parts.settings.agent.accounts.filter(({ backend }) => backend === acpProfile.name);
  try {
    const options = acpOptions(parts.settings, parts.host.version);
    const folder = await makeTrialFolder(parts.scratchFolders);
    try {
      const findings: Finding[] = [];
      for (const account of accounts) findings.push(await checkAccount(options, parts, account, folder));
      return findings;
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  } catch (error) {
    return [failedBy(check, error, 'The agent could not be checked: ')];
  }
}

async function checkAccount(
  options: AcpOptions,
  parts: AgentDoctorParts,
  account: AccountSettings,
  folder: string,
): Promise<Finding> {
  const late = new AbortController();
  const timer = parts.process.clock.schedule(accountMs, () => late.abort(tooSlow()));
  const events: AgentEvent[] = [];
  try {
    const onEvent = (event: AgentEvent): void => void events.push(event);
    const request = trialRequest(parts.chance.id(), folder, { signal: late.signal, onEvent });
    const session = await createAcpAgent(options, parts.partsFor(account)).startSession(request);
    await session.stop();
    return itWorks(options, fieldsOf(events[0]?.payload), account);
  } catch (error) {
    return cannotStart(error, options, account);
  } finally {
    timer.cancel();
  }
}

function tooSlow(): BatonError {
  return new BatonError('agent_turn_timeout', `The agent did not start within ${accountMs / 1000} seconds.`);
}

function itWorks({ preset, name }: AcpOptions, facts: Fields, account: AccountSettings): Finding {
  const version = textOf(facts.version);
  const program = harmlessLine([textOf(facts.agent) ?? name, version ?? ''].filter(Boolean).join(' '));
  const details = { account: account.name, version, login_methods: listOf(facts.auth).map(shown) };
  const say = (text: string): string => harmlessLine(`account "${account.name}": ${program} ${text}`);
  if (preset === null || preset.tested === null)
    return passed(check, say('works; Baton is not tested with it'), { ...details, code: 'untested' });
  if (version === preset.tested) return passed(check, say('works'), details);
  return passed(check, say(`works; Baton is tested with ${preset.tested}`), {
    ...details,
    code: 'untested_version',
    tested: preset.tested,
  });
}

function cannotStart(error: unknown, options: AcpOptions, account: AccountSettings): Finding {
  const { message, details, code } = toBatonError(error);
  const { preset } = options;
  const facts = { ...details, account: account.name };
  const say = (text: string): string => harmlessLine(`account "${account.name}": ${text}`);
  if (code === 'agent_auth_failed') {
    const fix = preset?.login ?? 'log in with the program itself';
    return failed(check, say('not logged in'), fix, { ...facts, code: 'logged_out' });
  }
  if (details.exit_code === 127) {
    const fix = `${preset?.install ?? 'install it'}, then check that a login shell (bash -lc) finds it`;
    return failed(check, say(`a login shell does not find the program: ${message}`), fix, {
      ...facts,
      code: 'not_found',
    });
  }
  const setting = harmlessLine(`acp.command ("${options.command}")`);
  return failed(check, say(message), `fix ${setting} and the other settings of the section`, {
    ...facts,
    code: 'does_not_start',
  });
}
