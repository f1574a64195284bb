import { z } from 'zod';
import type { Chance } from '../../clock/chance.ts';
import { BatonError } from '../../core/baton-error.ts';
import { normalizeState } from '../../core/issue/issue.ts';
import type { Ask, TrackerChanges } from '../tracker.ts';
import { unknownPayload } from './call/call-linear.ts';
import { commentOperation, longLists, moveIssueOperation, teamStatesOperation } from './call/documents.ts';
import { completeLists } from './read/complete-lists.ts';
import { isPossibleId, withIds } from './read/issue-filters.ts';
import { readRecord } from './read/linear-record.ts';
import { forAgent, issueNotFound } from './read/read-comments.ts';
import type { ReadParts } from './read/read-issues.ts';
import { type DispatchRules, toIssue } from './read/to-issue.ts';

const stateOfTeam = z.object({ id: z.string().min(1), name: z.string(), position: z.number().catch(0) });
const teamStates = z.object({
  issues: z.object({
    nodes: z.array(z.object({ team: z.object({ states: z.object({ nodes: z.array(stateOfTeam) }) }) })),
  }),
});
const moved = z.object({ issueUpdate: z.object({ success: z.boolean(), issue: z.unknown() }) });
const commented = z.object({ commentCreate: z.object({ success: z.boolean() }) });

interface ChangeParts extends ReadParts {
  readonly rules: (ask?: Ask) => Promise<DispatchRules>;
  readonly chance: Chance;
}

/**
 * Moves and comments. Each is written with one request that is never repeated, because the first one may have arrived.
 * The states of an issue are those of its own team; they are read together with the issue, so they are never stale.
 */
export function createLinearChanges(parts: ChangeParts): TrackerChanges {
  const { call, projectSlug, rules, chance } = parts;
  return {
    moveIssue: async (id, state, _author, given) => {
      const ask = forAgent(given);
      const rulesNow = await rules(ask);
      const stateId = await findState(parts, id, state, ask);
      const { issueUpdate } = await call(moveIssueOperation, { id, stateId, ...longLists }, moved, ask);
      const reading = readRecord(issueUpdate.issue);
      if (!issueUpdate.success) throw unknownPayload(moveIssueOperation, 'the move was not made');
      const [whole] = await completeLists([reading], longLists, { call, projectSlug }, ask);
      if (whole !== undefined && 'record' in whole) return toIssue(whole.record, rulesNow);
      throw unknownPayload(moveIssueOperation, `the issue ${id} was moved, but its record is malformed`);
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
  };
}

async function findState({ call, projectSlug }: ReadParts, id: string, state: string, ask: Ask): Promise<string> {
  ask.signal?.throwIfAborted();
  if (!isPossibleId(id)) throw issueNotFound(id);
  const { issues } = await call(teamStatesOperation, { filter: withIds(projectSlug, [id]) }, teamStates, ask);
  const [issue] = issues.nodes;
  if (issue === undefined) throw issueNotFound(id);
  const states = issue.team.states.nodes;
  const found = states.find(({ name }) => normalizeState(name) === normalizeState(state));
  if (found !== undefined) return found.id;
  const allowed = states.toSorted((left, right) => left.position - right.position).map(({ name }) => name);
  throw new BatonError(
    'tracker_state_unknown',
    `The team of the issue has no state "${state}". It has: ${allowed.join(', ')}.`,
    { details: { state, allowed } },
  );
}
