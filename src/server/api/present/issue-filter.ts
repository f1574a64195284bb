import { dispatchRank } from '../../../core/dispatch/dispatch-order.ts';
import { normalizeState } from '../../../core/issue/issue.ts';
import type { IssueOrder, IssuePlace } from '../../../core/issue/issue-place.ts';
import type { IssueFacts } from './present-issue.ts';

/** The filter of an issue list; a missing field matches every issue. */
export interface IssueFilter {
  readonly states: readonly string[];
  readonly text?: string;
  readonly label?: string;
  /** Null: issues without a priority. */
  readonly priority?: number | null;
  readonly activity?: string;
}

/** Whether an issue in memory matches, by the same rules as on the board. */
export function fitsFilter(issue: IssueFacts, filter: IssueFilter): boolean {
  const { states, text, label, priority, activity } = filter;
  if (states.length > 0 && !states.some((state) => normalizeState(state) === normalizeState(issue.state))) return false;
  if (label !== undefined && !issue.labels.includes(label)) return false;
  if (priority !== undefined && issue.priority !== priority) return false;
  if (activity !== undefined && issue.activity !== activity) return false;
  return text === undefined || textsOf(issue).some((each) => hasText(each, text));
}

export function textsOf({ identifier, title, description }: IssueFacts): readonly string[] {
  return [identifier, title, ...(description === null ? [] : [description])];
}

function hasText(whole: string, text: string): boolean {
  return whole.toLowerCase().includes(text.toLowerCase());
}

/** The place of an issue in a list, as the store has it. An issue without a time comes last. */
export function placeOf(
  { updated_at, created_at, priority, identifier, id }: IssueFacts,
  order: IssueOrder,
): IssuePlace {
  if (order === 'changed') return [updated_at === null ? -1 : Date.parse(updated_at), id];
  const createdAt = created_at === null ? Number.MAX_SAFE_INTEGER : Date.parse(created_at);
  return [dispatchRank(priority), createdAt, identifier];
}
