import { existsSync } from 'node:fs';
import { BatonError, toBatonError } from '../../../core/baton-error.ts';
import { type Finding, failed, failedBy, passed } from '../../../core/finding.ts';
import type { AccountSettings } from '../../../core/settings.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { absoluteElements, findProgram } from '../../../process/find-program.ts';
import type { AgentDoctorParts } from '../../backend.ts';
import { shellWord } from '../../shell-text.ts';
import type { CodexAgentOptions } from '../codex-options.ts';
import { pinnedCodexVersion } from '../pinned-version.ts';
import { codexProfile } from '../profile.ts';
import { codexKeyLoginCommand, codexLoginCommand } from '../resume-command.ts';
import { isBrokenConfig } from '../turn/codex-error.ts';
import { CodexRefusal } from '../wire/connection.ts';
import { checkCodexCommit } from './check-codex-commit.ts';
import { type CodexProbe, isUnknownHere, startCodexProbe } from './codex-probe.ts';
import { type CodexScratch, makeCodexScratch } from './codex-scratch.ts';

/** Limit for all checks of one account. Codex answers within a second or two, but a login shell may be slow. */
const accountMs = 20_000;

/**
 * Checks whether Codex works as the workflow file says: it starts and speaks the protocol, each account is logged in,
 * it accepts the policies, and a commit works in its sandbox. No turn begins, so no model is called; Codex itself may
 * use the network, as it does at every start.
 */
export async function checkCodex(options: CodexAgentOptions, parts: AgentDoctorParts): Promise<readonly Finding[]> {
  const accounts = parts.settings.agent.accounts.filter(({ backend }) => backend === codexProfile.name);
  try {
    await using scratch = await makeCodexScratch(parts);
    const findings: Finding[] = [];
    for (const account of accounts) {
      const isFirst = !findings.some(({ check }) => check === 'codex');
      findings.push(...(await checkAccount({ options, parts, account, scratch, isFirst })));
      // Without a working program the checks of the other accounts say nothing new.
      if (findings.some(({ check, status }) => check === 'codex' && status === 'failed')) break;
    }
    return findings;
  } catch (error) {
    return [failedBy('codex', error, 'Codex could not be checked: ')];
  }
}

interface Seen {
  readonly options: CodexAgentOptions;
  readonly parts: AgentDoctorParts;
  readonly account: AccountSettings;
  readonly scratch: CodexScratch;
  /** True for the first account: checks that are the same for all accounts run once. */
  readonly isFirst: boolean;
}

async function checkAccount(seen: Seen): Promise<Finding[]> {
  const { options, parts, account, scratch } = seen;
  if (account.home !== null && !existsSync(account.home)) return [homeless(account, account.home)];
  const stop = new AbortController();
  const timer = parts.process.clock.schedule(accountMs, () =>
    stop.abort(
      new BatonError('agent_turn_timeout', `Codex did not finish the checks within ${accountMs / 1000} seconds.`),
    ),
  );
  try {
    const { workspace, gitDirectory } = scratch;
    const where = { runId: parts.chance.id(), workspace, gitDirectory, signal: stop.signal };
    await using codex = await startCodexProbe(options, parts.partsFor(account), where);
    const findings = seen.isFirst ? [checkVersion(codex)] : [];
    const refused = await checkPolicies(codex);
    if (seen.isFirst)
      findings.push(
        refused ?? passed('codex_policies', 'Codex accepts codex.approval_policy and codex.thread_sandbox'),
      );
    // With settings that it cannot read, Codex guesses which login it needs.
    if (refused?.code === 'broken_config') return seen.isFirst ? findings : [refused];
    findings.push(await checkLogin(codex, seen));
    if (seen.isFirst) findings.push(...(await checkCodexCommit(codex, parts.settings, scratch)));
    return findings;
  } catch (error) {
    const found = await cannotStart(error, options, parts);
    if (seen.isFirst) return [found];
    // Other accounts have shown that the program works, so this is a problem of the account.
    const message = harmlessLine(`account "${account.name}": ${found.message}`);
    return [{ ...found, check: 'codex_login', message, details: { account: account.name, ...found.details } }];
  } finally {
    timer.cancel();
  }
}

/** Codex does not start when its home does not exist. */
function homeless({ name }: AccountSettings, home: string): Finding {
  const fix = `mkdir -p ${shellWord(home)} && ${codexLoginCommand(home)}`;
  const message = harmlessLine(`account "${name}": its home folder ${home} does not exist`);
  return failed('codex_login', message, fix, { code: 'no_home', account: name, home });
}

function checkVersion({ version }: CodexProbe): Finding {
  if (version === pinnedCodexVersion) return passed('codex', `${version} works`, { version });
  const shown = version === null ? null : harmlessLine(version);
  const message = `${shown ?? 'an unknown version'} works; Baton is tested with ${pinnedCodexVersion}`;
  return passed('codex', message, { code: 'untested_version', version: shown, tested: pinnedCodexVersion });
}

/** A login shell starts Codex, and its PATH may differ from that of a terminal. */
const install = `npm install --global @openai/codex@${pinnedCodexVersion}, then check that \`bash -lc 'codex --version'\` works`;

function cannotStart(error: unknown, options: CodexAgentOptions, { env, cwd }: AgentDoctorParts): Finding {
  const { message, details } = toBatonError(error);
  const said = harmlessLine(message);
  if (details.exit_code === 127) {
    const [program = '', ...args] = options.command.split(' ');
    const here = findProgram(program, { cwd, path: absoluteElements(env.PATH) });
    const fix = here === null ? install : `codex.command: ${[shellWord(here), ...args].join(' ')}`;
    const facts = { ...details, code: 'not_found', program: here };
    return failed('codex', `a login shell does not find Codex: ${said}`, fix, facts);
  }
  // The handshake worked, so it is an app server; with a login and no network Codex was seen to be this slow.
  if (details.method !== undefined && details.method !== 'initialize') {
    const fix = 'check the network connection, or raise agent.read_timeout_ms';
    return failed('codex', said, fix, { ...details, code: 'no_answer' });
  }
  const command = harmlessLine(`codex.command ("${options.command}")`);
  const fix = `fix ${command}: it must start an app server, like \`codex app-server\``;
  return failed('codex', said, fix, { ...details, code: 'no_app_server' });
}

/** Returns null when Codex would begin a thread with the policies of the workflow file. */
async function checkPolicies(codex: CodexProbe): Promise<Finding | null> {
  const refusal = await orRefusal(codex.tryThread());
  if (!(refusal instanceof CodexRefusal)) return null;
  const check = 'codex_policies';
  const message = harmlessLine(refusal.message);
  if (isBrokenConfig(refusal.refusal)) {
    const fix = harmlessLine(`fix config.toml in ${codex.home ?? 'the home of Codex'}`);
    return failed(check, message, fix, { code: 'broken_config', home: codex.home });
  }
  // A second try with a sandbox that is surely valid shows which of the two settings is wrong.
  const again = await orRefusal(codex.tryThread({ threadSandbox: 'read-only' }));
  const key = again instanceof CodexRefusal ? 'codex.approval_policy' : 'codex.thread_sandbox';
  return failed(check, message, `fix ${key}`, { code: 'refused', key });
}

async function orRefusal<T>(asked: Promise<T>): Promise<T | CodexRefusal> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CodexRefusal) return error;
    throw error;
  }
}

async function checkLogin(codex: CodexProbe, { account, parts }: Seen): Promise<Finding> {
  const check = 'codex_login';
  const facts = { account: account.name };
  const ofAccount = (text: string): string => harmlessLine(`account "${account.name}": ${text}`);
  const login = await orRefusal(codex.readLogin());
  if (login instanceof CodexRefusal && isUnknownHere(login))
    return passed(check, ofAccount('this version of Codex does not report the login; run `codex login status`'), {
      ...facts,
      code: 'not_reported',
    });
  if (login instanceof CodexRefusal)
    return failed(check, ofAccount(login.message), codexLoginCommand(account.home), { ...facts, code: 'refused' });
  const { isNeeded, kind, plan } = login;
  const home = foreignHome(codex, account, parts);
  // Only a turn shows whether the key is valid, so the message already contains the login command.
  if (kind === 'apiKey') {
    const message = ofAccount(`logged in with an API key; if Codex refuses the key: ${codexKeyLoginCommand(home)}`);
    return passed(check, message, { ...facts, kind });
  }
  const kindWord = kind === 'chatgpt' ? 'ChatGPT' : kind;
  if (kindWord !== null) {
    return passed(check, ofAccount(`logged in with ${kindWord}${plan === null ? '' : ` (${plan})`}`), {
      ...facts,
      kind,
      plan,
    });
  }
  if (!isNeeded) return passed(check, ofAccount('its model needs no OpenAI login'), { ...facts, code: 'not_needed' });
  // The variable alone is not a login. Whether to pay by key or by plan is the user's choice.
  const withKey = parts.env.OPENAI_API_KEY ? `, or with your key: ${codexKeyLoginCommand(home)}` : '';
  const fix = codexLoginCommand(home) + withKey;
  return failed(check, ofAccount('not logged in'), fix, { ...facts, code: 'logged_out' });
}

/** The home folder that a command has to name; null when Codex uses it by default. */
function foreignHome(
  { home }: CodexProbe,
  account: AccountSettings,
  { env, homeDir }: AgentDoctorParts,
): string | null {
  if (account.home !== null || home === null) return account.home;
  return home === (env.CODEX_HOME ?? `${homeDir}/.codex`) ? null : home;
}
