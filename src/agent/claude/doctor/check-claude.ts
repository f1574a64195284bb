import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { BatonError, toBatonError } from '../../../core/baton-error.ts';
import { type Finding, failed, failedBy, passed } from '../../../core/finding.ts';
import type { AccountSettings } from '../../../core/settings.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { parseJson } from '../../../core/text/parse-json.ts';
import type { AgentEvent } from '../../agent.ts';
import type { AgentDoctorParts } from '../../backend.ts';
import { endAgent } from '../../launch-agent.ts';
import { launchInShell } from '../../launch-in-shell.ts';
import { shellWord } from '../../shell-text.ts';
import { makeTrialFolder, trialRequest } from '../../trial-session.ts';
import { type Fields, fieldsOf, textOf } from '../../wire/fields.ts';
import { createClaudeAgent } from '../claude-agent.ts';
import { pinnedClaudeVersion } from '../pinned-version.ts';
import { claudeLoginCommand } from '../resume-command.ts';
import { type ClaudeOptions, claudeProfile } from '../settings.ts';

/** Limit for all checks of one account. */
const accountMs = 40_000;

/**
 * Checks whether Claude Code works as the workflow file says: it starts with the settings of a session and speaks the
 * protocol, and each account is logged in. No turn begins, so no model is called and nothing shows whether the server
 * accepts the login.
 */
export async function checkClaude(options: ClaudeOptions, parts: AgentDoctorParts): Promise<readonly Finding[]> {
  const accounts = parts.settings.agent.accounts.filter(({ backend }) => backend === claudeProfile.name);
  try {
    const folder = await makeTrialFolder(parts.scratchFolders);
    try {
      const findings: Finding[] = [];
      for (const account of accounts) {
        const late = new AbortController();
        const timer = parts.process.clock.schedule(accountMs, () => late.abort(tooSlow()));
        const seen = { options, parts, account, folder, signal: late.signal };
        if (account === accounts[0]) findings.push(await checkSession(seen));
        // Without a working program the login says nothing new.
        if (findings[0]?.status !== 'failed') findings.push(await checkLogin(seen));
        timer.cancel();
      }
      return findings;
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  } catch (error) {
    return [failedBy('claude', error, 'Claude Code could not be checked: ')];
  }
}

function tooSlow(): BatonError {
  return new BatonError(
    'agent_turn_timeout',
    `Claude Code did not finish the checks within ${accountMs / 1000} seconds.`,
  );
}

interface Seen {
  readonly options: ClaudeOptions;
  readonly parts: AgentDoctorParts;
  readonly account: AccountSettings;
  readonly folder: string;
  readonly signal: AbortSignal;
}

async function checkSession(seen: Seen): Promise<Finding> {
  const { options, parts, account } = seen;
  const events: AgentEvent[] = [];
  try {
    const onEvent = (event: AgentEvent): void => void events.push(event);
    const request = trialRequest(parts.chance.id(), seen.folder, { signal: seen.signal, onEvent });
    const session = await createClaudeAgent(options, parts.partsFor(account)).startSession(request);
    await session.stop();
  } catch (error) {
    return cannotStart(error, options);
  }
  const version = textOf(fieldsOf(events[0]?.payload).version);
  if (version === pinnedClaudeVersion) return passed('claude', `${version} works`, { version });
  const shown = version === null ? null : harmlessLine(version);
  const message = `${shown ?? 'an unknown version'} works; Baton is tested with ${pinnedClaudeVersion}`;
  return passed('claude', message, { code: 'untested_version', version: shown, tested: pinnedClaudeVersion });
}

/** A login shell starts Claude Code, and its PATH may differ from that of a terminal. */
const install = `npm install --global @anthropic-ai/claude-code@${pinnedClaudeVersion}, then check that \`bash -lc 'claude --version'\` works`;

function cannotStart(error: unknown, options: ClaudeOptions): Finding {
  const { message, details } = toBatonError(error);
  const said = harmlessLine(message);
  if (details.exit_code === 127)
    return failed('claude', `a login shell does not find Claude Code: ${said}`, install, {
      ...details,
      code: 'not_found',
    });
  if (/\bsandbox\b/i.test(textOf(details.stderr) ?? '')) {
    const fix = 'install bubblewrap and socat, or remove claude.sandbox';
    return failed('claude', `Claude Code cannot make its sandbox: ${said}`, fix, {
      ...details,
      code: 'no_sandbox_here',
    });
  }
  const fix = `fix ${harmlessLine(`claude.command ("${options.command}")`)} and the other settings of the section`;
  return failed('claude', said, fix, { ...details, code: 'does_not_start' });
}

/** Tells whether the account is logged in, how, and until when. Only a turn shows whether the server accepts it. */
async function checkLogin(seen: Seen): Promise<Finding> {
  const { account, parts } = seen;
  const check = 'claude_login';
  const facts = { account: account.name };
  const say = (text: string): string => harmlessLine(`account "${account.name}": ${text}`);
  const login = claudeLoginCommand(account.home);
  if (account.home !== null && !existsSync(account.home)) {
    const fix = `mkdir -p ${shellWord(account.home)} && ${login}`;
    return failed(check, say(`its home folder ${account.home} does not exist`), fix, { ...facts, code: 'no_home' });
  }
  const status = await readStatus(seen);
  if (status === null) {
    const message = say('this version of Claude Code does not report the login; run `claude` to see it');
    return passed(check, message, { ...facts, code: 'not_reported' });
  }
  const { authMethod: kind, subscriptionType: plan, apiProvider: provider } = status;
  const expires = Date.parse(textOf(status.loginExpiresAt) ?? '');
  if (expires <= parts.process.clock.now()) {
    const message = say(`its login expired at ${new Date(expires).toISOString()}`);
    return failed(check, message, login, { ...facts, code: 'expired', kind, expires_at: status.loginExpiresAt });
  }
  if (status.loggedIn !== true) {
    const fix = `${login}, or set ANTHROPIC_API_KEY`;
    return failed(check, say('not logged in'), fix, { ...facts, code: 'logged_out' });
  }
  const how = { api_key: 'an API key', oauth_token: 'a token', third_party: `the cloud provider ${provider}` };
  const words = how[kind as keyof typeof how] ?? `${kind}${textOf(plan) === null ? '' : ` (${plan})`}`;
  return passed(check, say(`logged in with ${words}`), { ...facts, kind, plan: plan ?? null, provider });
}

/** The answer of `claude auth status`, which uses no network; null when it is not understood. */
async function readStatus(seen: Seen): Promise<Fields | null> {
  const { options, parts, account, signal } = seen;
  const args = ['auth', 'status', '--json'];
  const process = await launchInShell(
    options.command,
    args,
    trialRequest(parts.chance.id(), seen.folder, { signal }),
    parts.partsFor(account),
  );
  const end = (): void => void process.stop();
  signal.addEventListener('abort', end, { once: true });
  try {
    process.closeStdin();
    let text = '';
    for await (const line of process.lines) text += `${line.text}\n`;
    const status = parseJson(text.slice(text.indexOf('{')));
    return typeof fieldsOf(status).loggedIn === 'boolean' ? fieldsOf(status) : null;
  } catch {
    return null;
  } finally {
    signal.removeEventListener('abort', end);
    await endAgent(process);
  }
}
