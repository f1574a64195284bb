import type { BackendProfile } from '../core/backend-profile.ts';
import type { Settings } from '../core/settings.ts';
import { harmlessLine } from '../core/text/harmless-line.ts';
import { childEnvironment, usualVariables } from '../process/child-environment.ts';

/** Which environment variables an agent gets: names and patterns such as `LC_*`, never values. */
export interface AgentEnvironment {
  /** What every child process gets from the daemon's environment. */
  readonly usual: readonly string[];
  /** What the backend gets in addition. */
  readonly backend: readonly string[];
  /** What the workflow file adds: `agent.env`. */
  readonly workflow: readonly string[];
  /** What each account of the backend sets, by its name. */
  readonly accounts: Readonly<Record<string, readonly string[]>>;
  readonly baton: readonly string[];
  /** On one of the lists, but the name of a secret: no agent gets it. */
  readonly removed: readonly string[];
  /** The variables of the daemon's environment that an agent would get now. */
  readonly set: readonly string[];
}

/** The lists in the order in which `childEnvironment` applies them. */
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

/** The lists as text for people. */
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
    ['withheld (secrets)', removed],
    ['set now', set],
  ];
  const width = Math.max(...rows.map(([what]) => what.length));
  const lines = rows.map(([what, names]) => `  ${what.padEnd(width)}  ${names.map(harmlessLine).join(' ') || '-'}\n`);
  return `\nEnvironment variables that an agent gets (names only)\n${lines.join('')}\n`;
}
