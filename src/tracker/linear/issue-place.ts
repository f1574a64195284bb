import * as z from 'zod';
import type { Chance } from '../../clock/chance.ts';
import { BatonError } from '../../core/baton-error.ts';
import { normalizeLabels, normalizeState } from '../../core/issue/issue.ts';
import type { Ask } from '../tracker.ts';
import { unknownPayload } from './call/call-linear.ts';
import { labelsOperation, longLists, moveIssueOperation, teamStatesOperation } from './call/documents.ts';
import { isPossibleId, withIds } from './read/issue-filters.ts';
import { issueNotFound } from './read/read-comments.ts';
import type { ReadParts } from './read/read-issues.ts';
import type { DispatchRules } from './read/to-issue.ts';

export interface ChangeParts extends ReadParts {
  readonly rules: (ask?: Ask) => Promise<DispatchRules>;
  readonly chance: Chance;
}

export const stateOfTeam = z.object({ id: z.string().min(1), name: z.string(), position: z.number().catch(0) });
const place = z.object({
  state: z.object({ name: z.string() }),
  project: z.object({ id: z.string() }),
  team: z.object({ id: z.string(), states: z.object({ nodes: z.array(stateOfTeam) }) }),
});
const places = z.object({ issues: z.object({ nodes: z.array(place) }) });
const ofTeam = z.object({ id: z.string() });
const labels = z.object({
  issues: z.object({ nodes: z.array(z.object({ team: ofTeam })) }),
  issueLabels: z.object({
    nodes: z.array(z.object({ id: z.string(), name: z.string(), team: ofTeam.nullish() })),
  }),
});

/** Where an issue is: its state, its project, and its team with the states that the team has. */
export async function readPlace(
  { call, projectSlug }: ReadParts,
  id: string,
  ask: Ask,
): Promise<z.infer<typeof place>> {
  ask.signal?.throwIfAborted();
  if (!isPossibleId(id)) throw issueNotFound(id);
  const { issues } = await call(teamStatesOperation, { filter: withIds(projectSlug, [id]) }, places, ask);
  const [found] = issues.nodes;
  if (found === undefined) throw issueNotFound(id);
  return found;
}

export function stateIn(states: readonly z.infer<typeof stateOfTeam>[], state: string): string {
  const found = states.find(({ name }) => normalizeState(name) === normalizeState(state));
  if (found !== undefined) return found.id;
  const allowed = states.toSorted((left, right) => left.position - right.position).map(({ name }) => name);
  throw new BatonError(
    'tracker_state_unknown',
    `The team of the issue has no state "${state}". It has: ${allowed.join(', ')}.`,
    { details: { state, allowed } },
  );
}

/** A label of the issue's own team comes before one of the workspace; labels of other teams do not count. */
export async function findLabels(
  { call, projectSlug }: ReadParts,
  id: string,
  names: readonly string[],
  ask: Ask,
): Promise<(name: string) => string | undefined> {
  ask.signal?.throwIfAborted();
  if (!isPossibleId(id)) throw issueNotFound(id);
  // Linear refuses an empty list of alternatives.
  const wanted = { or: [...normalizeLabels(names), ''].map((name) => ({ name: { eqIgnoreCase: name } })) };
  const variables = { filter: withIds(projectSlug, [id]), labels: wanted };
  const { issues, issueLabels } = await call(labelsOperation, variables, labels, ask);
  const [issue] = issues.nodes;
  if (issue === undefined) throw issueNotFound(id);
  const found = new Map<string, string>();
  for (const teamId of [undefined, issue.team.id]) {
    for (const label of issueLabels.nodes) {
      if (label.team?.id === teamId) found.set(normalizeState(label.name), label.id);
    }
  }
  return (name) => found.get(name);
}

const accepted = z.object({ issueUpdate: z.object({ success: z.boolean() }) });

/** Moves an issue to the state with this id. */
export async function moveTo({ call }: ReadParts, id: string, stateId: string, ask: Ask): Promise<void> {
  const { issueUpdate } = await call(moveIssueOperation, { id, stateId, ...longLists }, accepted, ask);
  if (!issueUpdate.success) throw unknownPayload(moveIssueOperation, 'the change was not made');
}
