import * as z from 'zod';
import { BatonError } from '../../core/baton-error.ts';
import { type Issue, normalizeLabels } from '../../core/issue/issue.ts';
import { refuseMoved } from '../refuse-moved.ts';
import type { Ask, TrackerChanges } from '../tracker.ts';
import { unknownPayload } from './call/call-linear.ts';
import {
  changeLabelsOperation,
  commentOperation,
  longLists,
  moveIssueOperation,
  type Operation,
  usualLists,
} from './call/documents.ts';
import { createChildren } from './create-children.ts';
import { createIssue } from './create-issue.ts';
import { type ChangeParts, findLabels, readPlace, stateIn } from './issue-place.ts';
import { completeLists } from './read/complete-lists.ts';
import { isPossibleId } from './read/issue-filters.ts';
import { readRecord } from './read/linear-record.ts';
import { forAgent, issueNotFound } from './read/read-comments.ts';
import { readByIds } from './read/read-issues.ts';
import { toIssue } from './read/to-issue.ts';

const written = z.object({ success: z.boolean(), issue: z.unknown() });
const updated = z.object({ issueUpdate: written }).transform(({ issueUpdate }) => issueUpdate);
const commented = z.object({ commentCreate: z.object({ success: z.boolean() }) });

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
    payload: typeof updated,
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
      const wanted = normalizeLabels(add).map((name) => ({ name, labelId: idOf(name) }));
      const missing = wanted.filter(({ labelId }) => labelId === undefined).map(({ name }) => name);
      if (missing.length > 0) throw unknownLabels(missing);
      const added = wanted.flatMap(({ labelId }) => labelId ?? []);
      const removed = normalizeLabels(remove).flatMap((name) => idOf(name) ?? []);
      return write(changeLabelsOperation, { id, added, removed }, updated, ask);
    },
    createIssue: async (issue, _author, given) => {
      const ask = forAgent(given);
      const id = await createIssue(parts, issue, ask);
      const record = (await readByIds([id], usualLists, parts, ask)).get(id);
      if (record === undefined) throw issueNotFound(id);
      return toIssue(record, await rules(ask));
    },
    createChildren: async (plan, _author, given) => {
      const ask = forAgent(given);
      const ids = await createChildren(parts, plan, ask);
      const rulesNow = await rules(ask);
      const made = await readByIds(ids, usualLists, parts, ask);
      return ids.flatMap((id) => {
        const record = made.get(id);
        return record === undefined ? [] : [toIssue(record, rulesNow)];
      });
    },
  };
}

function unknownLabels(labels: readonly string[]): BatonError {
  const names = labels.map((label) => `"${label}"`).join(', ');
  return new BatonError(
    'tracker_label_unknown',
    `Neither the team of the issue nor the workspace has the label${labels.length === 1 ? '' : 's'} ${names}.`,
    {
      details: { labels },
      nextStep: `Create ${names} in Linear: Settings, Labels, for the workspace or for the team of the issue.`,
    },
  );
}
