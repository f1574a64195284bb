import type { BackendProfile } from '../../core/backend-profile.ts';
import { normalizeState } from '../../core/issue/issue.ts';
import type { Problem } from '../../core/problem.ts';
import { agentKeys } from '../../core/settings/agent-keys.ts';
import type { NamedAgent, Settings } from '../../core/settings.ts';
import { type FrontMatter, isMap } from '../parse-front-matter.ts';
import { nearestKey } from '../table/nearest-key.ts';
import { sectionOf } from '../table/read-settings.ts';
import { errorAt, type Report } from '../workflow-problems.ts';

export interface AgentsPlace {
  readonly backends: readonly BackendProfile[];
  /** The problems of the file without its named agents. */
  readonly known: readonly Problem[];
  /** Reads front matter without `agents`. */
  readonly read: (frontMatter: FrontMatter, report: Report) => Settings | null;
}

type Written = Readonly<Record<string, unknown>>;

/**
 * The agents of `agents`. Each is read as if the file had its keys in the section `agent` and in that of its backend, so
 * that a key means the same there and here, and what an agent leaves out is as in `agent`, but for the stand-in. It may
 * have every key of `agent` that counts for a run; `accounts` names those that it uses.
 */
export function resolveAgents(
  frontMatter: FrontMatter,
  written: Readonly<Record<string, Written>>,
  place: AgentsPlace,
  report: Report,
): Readonly<Record<string, NamedAgent>> {
  const { agents: _, ...file } = frontMatter;
  const found = Object.entries(written).flatMap(([name, own]) => {
    const settings = resolveNamed(file, name, own, place, report);
    return settings === null ? [] : [[name, { written: own, settings }] as const];
  });
  return Object.fromEntries(found);
}

function resolveNamed(
  file: FrontMatter,
  name: string,
  { accounts, ...own }: Written,
  { backends, known, read }: AgentsPlace,
  report: Report,
): Settings | null {
  const { stand_in: _, ...above } = sectionOf(file, 'agent');
  const backend = String(own.backend ?? above.backend ?? backends[0]?.name);
  const profile = backends.find((each) => each.name === backend);
  const section = profile?.settings?.section ?? 'agent';
  const ofBackend = new Set(Object.keys(profile?.settings?.keys ?? {}));
  const ofRun = new Set(Object.keys(agentKeys).filter((key) => countsForRun(key)));
  for (const key of Object.keys(own)) {
    if (ofBackend.has(key) || ofRun.has(key)) continue;
    const nearest = nearestKey(key, [...ofBackend, ...ofRun]);
    const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
    const message = `agents.${name}.${key} is not a key of a named agent with the backend ${backend}${hint}`;
    report(errorAt(`agents.${name}.${key}`, message, { problem: 'unknown_key', nearest }));
  }
  const pick = (names: ReadonlySet<string>): Written =>
    Object.fromEntries(Object.entries(own).filter(([key]) => names.has(key)));
  const given = Array.isArray(above.accounts) ? above.accounts : [];
  // A backend without an account in the file has its own login, as it would have in a file without accounts.
  const hasAccount = given.some(
    (each) => isMap(each) && (each.backend ?? above.backend ?? backends[0]?.name) === backend,
  );
  const ofAll = given.map((each) => (isMap(each) ? { backend: above.backend ?? backends[0]?.name, ...each } : each));
  const all = given.length === 0 ? {} : { accounts: hasAccount ? ofAll : [...ofAll, { name: backend, backend }] };
  const agent = { ...above, ...all, ...pick(ofRun), backend };
  const overlay: FrontMatter = {
    ...file,
    agent,
    [section]: { ...(section === 'agent' ? agent : sectionOf(file, section)), ...pick(ofBackend) },
  };
  const says = new Set(known.map(({ key, message }) => `${key} ${message}`));
  const settings = read(overlay, (problem) => {
    if (!says.has(`${problem.key} ${problem.message}`)) report(renamed(problem, section, name));
  });
  return settings && withAccounts(settings, name, accounts, report);
}

/** The keys of `agent` that count for a run, and not for the daemon or for an issue over several runs. */
function countsForRun(key: string): boolean {
  const row = agentKeys[key as keyof typeof agentKeys];
  const first = 'takesEffect' in row ? row : Object.values(row)[0];
  return key !== 'accounts' && first?.takesEffect === 'next run';
}

/** Keeps the accounts that it names; all of its backend where it names none. */
function withAccounts(settings: Settings, name: string, named: unknown, report: Report): Settings {
  if (named === undefined || named === null) return settings;
  const { backend, accounts } = settings.agent;
  const own = accounts.filter((each) => each.backend === backend);
  const key = `agents.${name}.accounts`;
  const names = Array.isArray(named) && !named.some((each) => typeof each === 'object') ? named.map(String) : [];
  if (names.length === 0)
    report(
      errorAt(key, `${key} must be a list of names of accounts`, { problem: 'wrong_value', expected: 'name_list' }),
    );
  const allowed = own.map((each) => each.name);
  for (const missing of names.filter((each) => !allowed.includes(each))) {
    const message = `${key} has ${JSON.stringify(missing)}, which is not an account of the backend ${backend}; there are: ${allowed.join(', ')}`;
    report(errorAt(key, message, { problem: 'no_account', allowed }));
  }
  const kept = own.filter((account) => names.includes(account.name));
  if (kept.length === 0) return settings;
  // What the daemon's environment has for an account that this agent does not use is not for its runs.
  const set = new Set(kept.flatMap(({ env }) => Object.keys(env)));
  const ofOthers = own.flatMap(({ env }) => Object.keys(env)).filter((each) => !set.has(each));
  const secretEnvironment = [...settings.secretEnvironment, ...ofOthers];
  return { ...settings, secretEnvironment, agent: { ...settings.agent, accounts: kept } };
}

/** A problem of the overlay under the key that the person wrote. */
function renamed(problem: Problem, section: string, name: string): Problem {
  const { key, message } = problem;
  const from = [section, 'agent'].find((each) => key?.startsWith(`${each}.`));
  if (key === null || from === undefined) return problem;
  const at = `agents.${name}${key.slice(from.length)}`;
  return { ...problem, key: at, message: message.replaceAll(key, at) };
}

/** Every name of an agent in the settings must be one of `agents`; `default` is the agent of the section `agent`. */
export function checkAgentNames(
  { agent, agents, judge, pipeline, planner, intake, scanner, learner, setup }: Settings,
  report: Report,
): void {
  const allowed = ['default', ...Object.keys(agents)];
  const places = [
    ['agent.stand_in', agent.standIn],
    ...Object.entries(agent.byState).map(([state, name]) => [`agent.by_state.${state}`, name]),
    ...Object.entries(agents).map(([name, { settings }]) => [`agents.${name}.stand_in`, settings.agent.standIn]),
    ['intake.agent', intake.agent],
    ['scanner.agent', scanner.agent],
    ['learner.agent', learner.agent],
    ...judge.agents.map((name) => ['judge.agents', name]),
    ['planner.agent', planner.agent],
    ['setup.agent', setup.agent],
    ...pipeline.phases.flatMap(({ name, agent: own, judge: its }) => [
      [`pipeline.phases.${name}.agent`, own],
      [`pipeline.phases.${name}.judge`, its],
    ]),
  ] as const;
  for (const [key, name] of places) {
    if (name === null || name === undefined || allowed.includes(name)) continue;
    const message = `${key} ${key === 'judge.agents' ? 'has' : 'is'} ${JSON.stringify(name)}, which is not an agent of this file; there are: ${allowed.join(', ')}`;
    report(errorAt(String(key), message, { problem: 'unknown_agent', allowed }));
  }
}

/** The names of `agent.by_state` under normalised states. */
export function agentsByState(written: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(written).map(([state, name]) => [normalizeState(state), name.trim()]));
}
