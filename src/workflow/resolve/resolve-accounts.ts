import type { BackendProfile } from '../../core/backend-profile.ts';
import type { WrittenAccount } from '../../core/settings/setting.ts';
import type { AccountSettings } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';
import type { Place } from '../workflow-context.ts';
import { errorAt, type Report } from '../workflow-problems.ts';
import {
  dereference,
  literalSecret,
  notSet,
  resemblesReference,
  resolvePath,
  takenLiterally,
  variableNamed,
} from './references.ts';

const list = 'agent.accounts';

export interface AccountPlace extends Place {
  readonly backends: readonly BackendProfile[];
  /** `agent.backend`: the backend of an account that names none. */
  readonly backend: string;
  /** Variables that hold Baton's own secrets. */
  readonly secrets: readonly string[];
}

interface ResolvedAccounts {
  readonly accounts: readonly AccountSettings[];
  /**
   * Variables that hold keys of accounts and that no agent may see under these names: the key of one account must not
   * reach the agent of another. A name that an account itself sets for its agent cannot be among them.
   */
  readonly secretVariables: readonly string[];
}

/**
 * `agent.accounts` with paths and references resolved. Without any, each backend gets one account with its name. An
 * unset variable is an error: the run would use another account than the one in the file.
 */
export function resolveAccounts(
  written: readonly WrittenAccount[],
  place: AccountPlace,
  report: Report,
): ResolvedAccounts {
  if (written.length === 0) {
    const accounts = place.backends.map(({ name }) => ({ name, backend: name, env: {}, home: null }));
    return { accounts, secretVariables: [] };
  }
  const accounts = written.map((account, index) => resolveAccount(account, `${list}[${index}]`, place, report));
  reportRepeats(accounts, report);
  if (!accounts.some(({ backend }) => backend === place.backend)) {
    const message = `${list} has no account for the backend ${place.backend}, which agent.backend names`;
    report(errorAt(list, message, { problem: 'no_account', backend: place.backend }));
  }
  const given = new Set(accounts.flatMap(({ env }) => Object.keys(env)));
  const named = written.flatMap(({ env = {} }) => Object.values(env).map((value) => variableNamed(value.trim())));
  const secretVariables = new Set(named.filter((name) => name !== null).filter((name) => !given.has(name)));
  return { accounts, secretVariables: [...secretVariables] };
}

function resolveAccount(written: WrittenAccount, key: string, place: AccountPlace, report: Report): AccountSettings {
  const backend = written.backend ?? place.backend;
  const profile = place.backends.find(({ name }) => name === backend);
  // An unknown `agent.backend` is reported under its own key.
  if (profile === undefined && written.backend !== undefined) {
    const allowed = place.backends.map(({ name }) => name);
    const message = `${key}.backend is ${JSON.stringify(backend)}; allowed: ${allowed.join(', ')}`;
    report(errorAt(`${key}.backend`, message, { code: 'unsupported_agent_backend', allowed }));
  }
  const homeVariable = profile?.homeVariable ?? null;
  const env: Record<string, string | Secret> = {};
  for (const [name, value] of Object.entries(written.env ?? {})) {
    const at = `${key}.env.${name}`;
    reportReserved(name, at, place.secrets, report);
    if (written.home !== undefined && name === homeVariable) {
      const message = `${at} is already set by ${key}.home; keep only one of them`;
      report(errorAt(at, message, { problem: 'repeated', other: `${key}.home` }));
    }
    const resolved = resolveVariable(name, value, at, place, report);
    if (resolved !== null) env[name] = resolved;
  }
  if (written.home === undefined) return { name: written.name, backend, env, home: null };
  if (profile !== undefined && homeVariable === null) {
    const message = `${key}.home has no effect: the backend ${backend} has no folder for an account`;
    report(errorAt(`${key}.home`, message, { problem: 'without_effect', backend }));
  }
  return { name: written.name, backend, env, home: resolveHome(written.home, `${key}.home`, place, report) };
}

/** An account cannot set a variable that Baton denies to every child process or sets itself. */
function reportReserved(name: string, at: string, secrets: readonly string[], report: Report): void {
  if (secrets.includes(name)) {
    const message = `${at} is the name of one of Baton's own secrets, which no agent gets`;
    report(errorAt(at, message, { problem: 'secret_of_baton', variable: name }));
  }
  if (name.startsWith('BATON_'))
    report(errorAt(at, `${at} is a name that Baton reserves for itself`, { problem: 'reserved_name' }));
}

function resolveVariable(
  name: string,
  value: string,
  at: string,
  { surroundings, secrets }: AccountPlace,
  report: Report,
): string | Secret | null {
  if (value.includes('\0')) {
    report(errorAt(at, `${at} must be text without NUL`, { problem: 'nul_character' }));
    return null;
  }
  const { text, variable } = dereference(value, surroundings);
  if (variable === null) {
    if (resemblesReference(value)) report(takenLiterally(at));
    if (!looksLikeSecret(name, value)) return value;
    report(literalSecret(at));
    return new Secret(value);
  }
  if (secrets.includes(variable)) {
    const message = `${at} names $${variable}, which contains one of Baton's own secrets, and no agent gets those`;
    report(errorAt(at, message, { problem: 'secret_of_baton', variable }));
    return null;
  }
  if (text !== '') return new Secret(text);
  report(notSet(at, variable));
  return null;
}

function resolveHome(written: string, at: string, place: AccountPlace, report: Report): string | null {
  const { text, variable } = dereference(written, place.surroundings);
  if (text === '') {
    const blank = errorAt(at, `${at} must be a path, but it is blank`, { problem: 'blank' });
    report(variable === null ? blank : notSet(at, variable));
    return null;
  }
  if (text.includes('\0')) {
    report(errorAt(at, `${at} must be a path without a NUL character`, { problem: 'nul_character' }));
  }
  if (variable === null && resemblesReference(text)) report(takenLiterally(at));
  return resolvePath(text, place.workflowDir, place.surroundings);
}

/** The store identifies an account by backend and name. */
function reportRepeats(accounts: readonly AccountSettings[], report: Report): void {
  const seen = new Set<string>();
  for (const [index, { name, backend }] of accounts.entries()) {
    const id = `${backend} ${name}`;
    const key = `${list}[${index}].name`;
    if (seen.has(id)) {
      const message = `${key} is ${JSON.stringify(name)}, but another account of the backend ${backend} has that name`;
      report(errorAt(key, message, { problem: 'repeated', backend }));
    }
    seen.add(id);
  }
}

const secretName = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|AUTH)(?:_|$)/i;
/** How keys of well-known services begin. */
const keyBeginning = /^(?:sk-|pk-|gh[a-z]_|github_pat_|glpat-|xox[a-z]-|lin_api_|AKIA|AIza|eyJ)/;
const credentialsInAddress = /:\/\/[^/@\s]*:[^/@\s]*@/;
/** Mixed letters and digits, without a space or a slash, longer than any word. */
const longAndRandom = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_+=.-]{32,}$/;

/** Whether a variable with this value is probably a secret: by its name, or by the form of its value. */
function looksLikeSecret(name: string, value: string): boolean {
  const text = value.trim();
  if (text === '') return false;
  return (
    secretName.test(name) || keyBeginning.test(text) || credentialsInAddress.test(text) || longAndRandom.test(text)
  );
}
