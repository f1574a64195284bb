import * as z from 'zod';
import type { Clock } from '../../../clock/clock.ts';
import { type Finding, failed, failedBy, passed } from '../../../core/finding.ts';
import { normalizeState } from '../../../core/issue/issue.ts';
import type { Logger } from '../../../core/logger.ts';
import type { TrackerSettings } from '../../../core/settings.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import type { HttpClient } from '../../../http/http.ts';
import { type CallLinear, createCallLinear } from '../call/call-linear.ts';
import { doctorOperation, projectsOperation } from '../call/documents.ts';
import { readLinearSettings } from '../linear-settings.ts';
import { linearProfile } from '../profile.ts';
import { nearest } from './near-names.ts';

const named = z.object({ name: z.string() });
const project = z.object({
  name: z.string(),
  slugId: z.string(),
  teams: z.object({ nodes: z.array(z.object({ key: z.string(), states: z.object({ nodes: z.array(named) }) })) }),
});
const answer = z.object({ viewer: named, projects: z.object({ nodes: z.array(project) }) });
const projects = z.object({ projects: z.object({ nodes: z.array(named.extend({ slugId: z.string() })) }) });

type Project = z.infer<typeof project>;

const ask = { caller: { job: 'doctor', cause: 'person' } } as const;

/**
 * Checks whether Linear works as the workflow file says: the key is valid, the project exists, and its teams have the
 * states. One request when all is well, a second one to suggest the intended project. Nothing is written.
 */
export async function checkLinear(
  settings: TrackerSettings,
  { http, clock, logger }: { readonly http: HttpClient; readonly clock: Clock; readonly logger: Logger },
): Promise<readonly Finding[]> {
  try {
    const linear = readLinearSettings(settings);
    const call = createCallLinear({ settings: linear, http, clock, logger });
    const { projectSlug: slug } = linear;
    const filter = { slugId: { in: [...new Set([slug, endOf(slug)])] } };
    const { viewer, projects: found } = await call(doctorOperation, { filter }, answer, ask);
    const user = harmlessLine(viewer.name);
    const key = passed('linear_key', `the key belongs to ${user}`, { user });
    const there = found.nodes.find(({ slugId }) => slugId === slug);
    if (there === undefined) return [key, await missingProject(slug, found.nodes, call)];
    return [key, passed('linear_project', harmlessLine(`${there.name} (${slug})`)), checkStates(settings, there)];
  } catch (error) {
    return [failedBy('linear', error)];
  }
}

async function missingProject(slug: string, ends: readonly Project[], call: CallLinear): Promise<Finding> {
  const check = 'linear_project';
  const code = 'unknown_project';
  const message = harmlessLine(`the key has access to no project with the slug "${slug}"`);
  const [meant] = ends;
  const fix = (slugId: string): string => harmlessLine(`set tracker.provider.project_slug: ${slugId}`);
  if (meant !== undefined) {
    const facts = { code, near: [meant.slugId] };
    return failed(check, harmlessLine(`${message}; you probably mean "${meant.name}"`), fix(meant.slugId), facts);
  }
  const all = (await call(projectsOperation, {}, projects, ask)).projects.nodes;
  const near = nearest(slug, all, ({ name, slugId }) => [slugId, name, `${name}-${slugId}`]);
  const facts = { code, near: near.map(({ slugId }) => slugId) };
  if (near.length === 0)
    return failed(
      check,
      message,
      'set tracker.provider.project_slug to the end of the address of the project in Linear',
      facts,
    );
  const names = near.map(({ name, slugId }) => harmlessLine(`${slugId} (${name})`));
  return failed(check, `${message}; near: ${names.join(', ')}`, fix(near[0]?.slugId ?? ''), facts);
}

/** The address of a project ends with its name and its slug, `baton-rewrite-1a2b3c4d5e6f`; people copy all of it. */
function endOf(slug: string): string {
  const path = URL.parse(slug)?.pathname ?? slug;
  const part = path.split('/').findLast((each) => /-?[0-9a-f]{8,}$/i.test(each)) ?? path;
  return part.split('-').at(-1) ?? part;
}

/**
 * Every state in the file should be a state of the project's teams. The default lists, which the user did not write,
 * hold several spellings, so one existing state of a list is enough.
 */
function checkStates(settings: TrackerSettings, { teams }: Project): Finding {
  const check = 'linear_states';
  const there = [...new Set(teams.nodes.flatMap(({ states }) => states.nodes.map((state) => state.name)))];
  const known = new Set(there.map(normalizeState));
  const lists = [
    { key: 'active_states', states: settings.activeStates, usual: linearProfile.defaultActiveStates },
    { key: 'terminal_states', states: settings.terminalStates, usual: linearProfile.defaultTerminalStates },
    { key: 'review_states', states: settings.reviewStates, usual: linearProfile.defaultReviewStates ?? null },
  ];
  const problemAt = (key: string, state: string) => ({ key, state, near: nearest(state, there, (each) => [each]) });
  const problems = lists.flatMap(({ key, states, usual }) => {
    const missing = states.filter((state) => !known.has(normalizeState(state)));
    const isUsual = usual !== null && states.join('\n') === usual.join('\n');
    const isNeeded = key !== 'review_states';
    if (isUsual && (!isNeeded || missing.length < states.length)) return [];
    return missing.map((state) => problemAt(`tracker.${key}`, state));
  });
  // Baton moves issues of every team to these states.
  const isEverywhere = (name: string): boolean =>
    teams.nodes.every(({ states }) =>
      states.nodes.some((state) => normalizeState(state.name) === normalizeState(name)),
    );
  for (const [role, state] of Object.entries(settings.states)) {
    const name = role === 'inProgress' ? 'in_progress' : role;
    if (state !== null && !isEverywhere(state)) problems.push(problemAt(`tracker.states.${name}`, state));
  }
  if (problems.length === 0) {
    return passed(
      check,
      harmlessLine(`all states of the workflow file exist; the teams of the project have: ${there.join(', ')}`),
    );
  }
  const messages = problems.map(({ key, state, near }) => {
    const meant = near.length === 0 ? '' : ` (similar: ${near.join(', ')})`;
    const lacks = key.startsWith('tracker.states.') ? 'not every team' : 'no team';
    return `${key} names "${state}", which ${lacks} of the project has${meant}`;
  });
  const fix = harmlessLine(`use existing states: ${there.join(', ')}`);
  return failed(check, harmlessLine(messages.join('; ')), fix, {
    code: 'unknown_states',
    unknown: problems,
    allowed: there,
  });
}
