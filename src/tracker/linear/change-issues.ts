import { z } from 'zod';
import type { Chance } from '../../clock/chance.ts';
import { BatonError } from '../../core/baton-error.ts';
import { type Issue, normalizeLabels, normalizeState } from '../../core/issue/issue.ts';
import { refuseMoved } from '../refuse-moved.ts';
import type { Ask, TrackerChanges } from '../tracker.ts';
import { unknownPayload } from './call/call-linear.ts';
import {
  changeLabelsOperation,
  commentOperation,
  createChildOperation,
  labelsOperation,
  longLists,
  moveIssueOperation,
  type Operation,
  teamStatesOperation,
} from './call/documents.ts';
import { completeLists } from './read/complete-lists.ts';
import { isPossibleId, withIds } from './read/issue-filters.ts';
import { readRecord } from './read/linear-record.ts';
import { forAgent, issueNotFound } from './read/read-comments.ts';
import type { ReadParts } from './read/read-issues.ts';
import { type DispatchRules, toIssue } from './read/to-issue.ts';

const stateOfTeam = z.object({ id: z.string().min(1), name: z.string(), position: z.number().catch(0) });
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
const written = z.object({ success: z.boolean(), issue: z.unknown() });
const updated = z.object({ issueUpdate: written }).transform(({ issueUpdate }) => issueUpdate);
const created = z.object({ issueCreate: written }).transform(({ issueCreate }) => issueCreate);
const commented = z.object({ commentCreate: z.object({ success: z.boolean() }) });

interface ChangeParts extends ReadParts {
  readonly rules: (ask?: Ask) => Promise<DispatchRules>;
  readonly chance: Chance;
}

/**
 * Moves, comments, labels and new children. Each is written with one request that is never repeated, because the first
 * one may have arrived. States and labels are those of the issue's own team; they are read together with the issue, so
 * they are never stale. Baton creates no labels: those of a workspace belong to people.
 */
export function createLinearChanges(parts: ChangeParts): TrackerChanges {
  const { call, projectSlug, rules, chance } = parts;

  /** Writes once, and returns the whole issue after it. */
  const write = async (
    operation: Operation,
    variables: Readonly<Record<string, unknown>>,
    payload: typeof updated | typeof created,
    ask: Ask,
  ): Promise<Issue> => {
    const rulesNow = await rules(ask);
    const { success, issue } = await call(operation, { ...variables, ...longLists }, payload, ask);
    if (!success) throw unknownPayload(operation, 'the change was not made');
    const [whole] = await completeLists([readRecord(issue)], longLists, { call, projectSlug }, ask);
    if (whole !== undefined && 'record' in whole) return toIssue(whole.record, rulesNow);
    throw unknownPayload(operation, 'the change was made, but the record of the issue is malformed');
  };

  return {
    moveIssue: async (id, state, _author, given) => {
      const ask = forAgent(given);
      const { state: now, team } = await readPlace(parts, id, ask);
      const stateId = stateIn(team.states.nodes, state);
      refuseMoved({ name: id, state: now.name }, given?.from, state);
      return write(moveIssueOperation, { id, stateId }, updated, ask);
    },
    addComment: async (id, body, _author, given) => {
      const ask = forAgent(given);
      ask.signal?.throwIfAborted();
      if (!isPossibleId(id)) throw issueNotFound(id);
      // The id is known before the comment is sent, so that the comment of a run is never taken for a person's.
      const commentId = chance.id();
      await ask.run?.onWrite({ kind: 'comment', id: commentId });
      const { commentCreate } = await call(commentOperation, { id: commentId, issueId: id, body }, commented, ask);
      if (!commentCreate.success) throw unknownPayload(commentOperation, 'the comment was not written');
    },
    changeLabels: async (id, { add = [], remove = [] }, _author, given) => {
      const ask = forAgent(given);
      const idOf = await findLabels(parts, id, [...add, ...remove], ask);
      const added = normalizeLabels(add).map((name) => idOf(name) ?? refuseLabel(name));
      const removed = normalizeLabels(remove).flatMap((name) => idOf(name) ?? []);
      return write(changeLabelsOperation, { id, added, removed }, updated, ask);
    },
    createChild: async (parentId, { title, description, state }, _author, given) => {
      const ask = forAgent(given);
      const { project, team } = await readPlace(parts, parentId, ask);
      const id = chance.id();
      const input = {
        ...{ id, title, description, parentId, teamId: team.id, projectId: project.id },
        ...(state === undefined ? {} : { stateId: stateIn(team.states.nodes, state) }),
      };
      await ask.run?.onWrite({ kind: 'issue', id });
      return write(createChildOperation, { input }, created, ask);
    },
  };
}

/** Where an issue is: its state, its project, and its team with the states that the team has. */
async function readPlace({ call, projectSlug }: ReadParts, id: string, ask: Ask): Promise<z.infer<typeof place>> {
  ask.signal?.throwIfAborted();
  if (!isPossibleId(id)) throw issueNotFound(id);
  const { issues } = await call(teamStatesOperation, { filter: withIds(projectSlug, [id]) }, places, ask);
  const [found] = issues.nodes;
  if (found === undefined) throw issueNotFound(id);
  return found;
}

function stateIn(states: readonly z.infer<typeof stateOfTeam>[], state: string): string {
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
async function findLabels(
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

function refuseLabel(label: string): never {
  throw new BatonError(
    'tracker_label_unknown',
    `Neither the team of the issue nor the workspace has a label "${label}".`,
    {
      details: { label },
    },
  );
}
