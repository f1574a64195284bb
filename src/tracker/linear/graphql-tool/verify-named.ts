import * as z from 'zod';
import { BatonError } from '../../../core/baton-error.ts';
import { normalizeState } from '../../../core/issue/issue.ts';
import type { Ask } from '../../tracker.ts';
import type { CallLinear } from '../call/call-linear.ts';
import type { Operation } from '../call/documents.ts';
import { isPossibleId } from '../read/issue-filters.ts';
import type { Named } from './narrow-document.ts';

/** Most things that a document may name: each is looked up. */
const mostNamed = 25;

const identifier = /^[a-z][a-z0-9_]*-[1-9][0-9]*$/i;

const ofProject = z.object({ id: z.string(), project: z.object({ slugId: z.string() }).nullable() });
const answer = z.looseObject({
  projects: z.object({
    nodes: z.array(z.object({ id: z.string(), teams: z.object({ nodes: z.array(z.object({ id: z.string() })) }) })),
  }),
});
const stateOf = z.object({ name: z.string(), team: z.object({ id: z.string() }) });
const labelOf = z.object({ name: z.string() });
const issueOf = {
  issue: ofProject,
  comment: z.object({ issue: ofProject.nullable() }).transform(({ issue }) => issue),
};

interface Parts {
  readonly call: CallLinear;
  readonly projectSlug: string;
  /** Normalised. */
  readonly activeStates: ReadonlySet<string>;
  /** The only issue that may be changed, by its id; null: all of the project. */
  readonly ownIssue: string | null;
  /** Labels that only people set or remove; absent: none. */
  readonly steers?: ((label: string) => boolean) | undefined;
}

/** Why some named things are not allowed, and the ids of the issues by their names. */
export interface Verified {
  readonly refused: readonly string[];
  readonly issueIds: ReadonlyMap<string, string>;
}

/**
 * Finds out whether named things are in the project, whether only the own issue is changed, and whether new issues begin
 * in a state in which no agent works: otherwise one run could start another with any text; and whether a label tells Baton
 * what to do, such as to merge. One read covers all of them, through the
 * same Linear fields that take the names afterwards, so that a name means the same both times. Nothing is cached,
 * because an issue may move. A name that Linear does not know gets the same answer as one outside the project, so the
 * agent cannot tell the two apart.
 */
export async function verifyNamed(
  { issue, comment, project, team, changed, idle, label }: Named,
  { call, projectSlug, activeStates, ownIssue, steers }: Parts,
  ask: Ask,
): Promise<Verified> {
  const known = (name: string): boolean => isPossibleId(name) || identifier.test(name);
  const asked = [
    ...[...issue].map((name) => ({ kind: 'issue' as const, name, isPossible: known(name) })),
    ...[...comment].map((name) => ({ kind: 'comment' as const, name, isPossible: isPossibleId(name) })),
    ...[...idle].map((name) => ({ kind: 'workflowState' as const, name, isPossible: isPossibleId(name) })),
    ...[...label].map((name) => ({ kind: 'issueLabel' as const, name, isPossible: isPossibleId(name) })),
  ];
  const refused = (...reasons: readonly string[]): Verified => ({ refused: reasons, issueIds: new Map() });
  // The slug is the project's own name and needs no lookup.
  const projects = [...project].filter((name) => name !== projectSlug);
  const count = asked.length + projects.length + team.size;
  if (count === 0) return refused();
  if (count > mostNamed)
    return refused(
      `The document names ${count} issues, comments, states, labels, projects and teams. At most ${mostNamed} are allowed.`,
    );
  const impossible = asked.filter(({ isPossible }) => !isPossible);
  if (impossible.length > 0) return refused(...impossible.map(({ kind, name }) => notHere(kind, name)));

  const { operation, variables } = scopeRead(asked, projectSlug);
  const found = await call(operation, variables, answer, ask).catch((thrown: unknown) => {
    if (isAboutNothing(thrown)) return null;
    throw thrown;
  });
  if (found === null)
    return refused(
      ...asked.map(({ kind, name }) => `${notHere(kind, name)} (this is true for at least one of the names)`),
    );
  const here = found.projects.nodes[0];
  const teams = here?.teams.nodes.map(({ id }) => id) ?? [];
  const issueAt = (kind: 'issue' | 'comment', at: number): z.output<typeof ofProject> | null =>
    issueOf[kind].safeParse(found[`a${at}`]).data ?? null;
  const labelAt = (at: number): string | null => labelOf.safeParse(found[`a${at}`]).data?.name ?? null;
  const issueIds = new Map(
    asked.flatMap(({ kind, name }, at) => {
      const id = kind === 'issue' || kind === 'comment' ? issueAt(kind, at)?.id : undefined;
      return id === undefined ? [] : [[name, id] as const];
    }),
  );
  const outside = [
    ...asked.filter(({ kind }, at) => {
      if (kind === 'issueLabel') return labelAt(at) === null;
      if (kind !== 'workflowState') return issueAt(kind, at)?.project?.slugId !== projectSlug;
      const state = stateOf.safeParse(found[`a${at}`]).data;
      return state === undefined || !teams.includes(state.team.id);
    }),
    ...projects.filter((name) => name !== here?.id).map((name) => ({ kind: 'project', name })),
    ...[...team].filter((name) => !teams.includes(name)).map((name) => ({ kind: 'team', name })),
  ].map(({ kind, name }) => notHere(kind, name));
  const others = ownIssue === null ? [] : [...changed].filter((name) => issueIds.get(name) !== ownIssue);
  const active = asked.filter(
    ({ kind }, at) =>
      kind === 'workflowState' && activeStates.has(normalizeState(stateOf.safeParse(found[`a${at}`]).data?.name ?? '')),
  );
  const steering = asked.flatMap(({ kind }, at) => (kind === 'issueLabel' ? (labelAt(at) ?? []) : []));
  const reasons = [
    ...outside,
    ...others.map((name) => `You can change only the issue of this run, and "${name}" does not belong to it.`),
    ...active.map(({ name }) => `Agents work on issues in the state "${name}"; create the issue in another state.`),
    ...steering
      .filter((name) => steers?.(name) === true)
      .map((name) => `The label "${name}" tells Baton what to do: only people set or remove it.`),
  ];
  return { refused: reasons, issueIds };
}

type Looked = 'issue' | 'comment' | 'workflowState' | 'issueLabel';

/** The read for these names. Its document depends on their number; the names are variables. */
export function scopeRead(
  asked: readonly { readonly kind: Looked; readonly name: string }[],
  projectSlug: string,
): { readonly operation: Operation; readonly variables: Readonly<Record<string, string>> } {
  const place = 'id project { slugId }';
  const wanted: Readonly<Record<Looked, string>> = {
    issue: place,
    comment: `issue { ${place} }`,
    workflowState: 'name team { id }',
    issueLabel: 'name',
  };
  const declared = asked.map((_, at) => `, $a${at}: String!`).join('');
  const reads = asked.map(({ kind }, at) => {
    return `  a${at}: ${kind}(id: $a${at}) { ${wanted[kind]} }\n`;
  });
  const text = `query BatonToolScope($slug: String!${declared}) {
${reads.join('')}  projects(filter: { slugId: { eq: $slug } }, first: 1) { nodes { id teams(first: 50) { nodes { id } } } }
}`;
  const names = Object.fromEntries(asked.map(({ name }, at) => [`a${at}`, name]));
  return { operation: { name: 'BatonToolScope', text }, variables: { slug: projectSlug, ...names } };
}

function notHere(kind: string, name: string): string {
  return kind === 'project' || kind === 'team'
    ? `The ${kind} "${name}" is not ${kind === 'project' ? 'the configured one' : 'a team of the project'}; give its id.`
    : `The ${kind === 'workflowState' ? 'state' : kind} "${name}" is not in the project.`;
}

/** Linear has no issue or comment of that name, which it reports with an error for the whole read. */
function isAboutNothing(thrown: unknown): boolean {
  if (!(thrown instanceof BatonError)) return false;
  const { code, details } = thrown;
  return code === 'tracker_issue_not_found' || details.provider_code === 'linear_graphql_errors';
}
