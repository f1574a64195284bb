import type { BackendProfile } from '../core/backend-profile.ts';
import type { Settings } from '../core/settings.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { type ChildEnvironment, childEnvironment, usualVariables } from '../process/child-environment.ts';

/** Which environment variables an agent gets: names and patterns such as `LC_*`, never values. */
export interface AgentEnvironment {
  /** What every child gets of the daemon's environment. */
  readonly usual: readonly string[];
  /** What the backend gets beyond that. */
  readonly backend: readonly string[];
  /** What the workflow file adds: `agent.env`. */
  readonly workflow: readonly string[];
  /** What each account of the backend sets, by its name. */
  readonly accounts: Readonly<Record<string, readonly string[]>>;
  /** What Baton itself sets. */
  readonly baton: readonly string[];
  /** On one of the lists, but the name of a secret: no agent gets it. */
  readonly removed: readonly string[];
  /** Of the daemon's environment just now, what an agent would get. */
  readonly set: readonly string[];
}

/** The lists as `childEnvironment` works through them. */
export function describeAgentEnvironment(
  { agent, secretEnvironment }: Settings,
  backends: readonly BackendProfile[],
  env: Readonly<Record<string, string | undefined>>,
): AgentEnvironment {
  const profile = backends.find(({ name }) => name === agent.backend);
  const backend = profile?.environment ?? [];
  const homeVariable = profile?.homeVariable ?? null;
  const allow = [...usualVariables, ...backend, ...agent.env];
  const secrets = Object.fromEntries(secretEnvironment.map((name) => [name, '']));
  const ofBackend = agent.accounts.filter((account) => account.backend === agent.backend);
  return {
    usual: usualVariables,
    backend,
    workflow: agent.env,
    accounts: Object.fromEntries(
      ofBackend.map(({ name, env: own, home }) => [
        name,
        [...Object.keys(own), ...(home !== null && homeVariable !== null ? [homeVariable] : [])],
      ]),
    ),
    baton: ['BATON_*'],
    removed: Object.keys(childEnvironment({ from: secrets, allow, deny: [] })),
    set: Object.keys(childEnvironment({ from: env, allow, deny: secretEnvironment })).toSorted(),
  };
}

/** The same for people. */
export function agentEnvironmentText(environment: AgentEnvironment): string {
  const { usual, backend, workflow, accounts, baton, removed, set } = environment;
  const accountRows = Object.entries(accounts)
    .filter(([, names]) => names.length > 0)
    .map(([name, names]) => [`account ${name}`, names] as const);
  const rows: readonly (readonly [what: string, names: readonly string[]])[] = [
    ['usual', usual],
    ['backend', backend],
    ['agent.env', workflow],
    ...accountRows,
    ['from Baton', baton],
    ['removed, as secrets', removed],
    ['set just now', set],
  ];
  const width = Math.max(...rows.map(([what]) => what.length));
  const lines = rows.map(([what, names]) => `  ${what.padEnd(width)}  ${names.map(harmlessLine).join(' ') || '-'}\n`);
  return `\nEnvironment variables of an agent, by name\n${lines.join('')}\n`;
}

/**
 * A variable that holds a secret, as far as a name can tell: `OPENAI_API_KEY`, `CODEX_ACCESS_TOKEN`, `CLIENT_SECRET`,
 * `PGPASSWORD`.
 */
const nameOfSecret = /(?:^|_)(?:KEY|TOKEN|SECRET)$|PASSWORD/i;

/**
 * The secrets among the variables that an agent is given, whoever gave them: it may tell none of them. Of a value shorter
 * than eight characters nobody takes notice (`core/text/redact.ts`): it would be found in any text.
 */
export function secretsAmong(environment: ChildEnvironment): string[] {
  return Object.entries(environment).flatMap(([name, value]) => (nameOfSecret.test(name) ? [value] : []));
}
