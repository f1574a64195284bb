import { computed } from '@preact/signals';
import type { IssueSummary } from '../../../src/client/schema/issue.ts';
import { needsYou, running, waiting } from '../connection/live.ts';

export type Activity = NonNullable<IssueSummary['activity']>;

export const activities: readonly Activity[] = ['asking', 'held', 'running', 'retrying'];

/**
 * Baton's current activity on each issue, by `project/issue`: from the rows, which are newer than any list read before.
 */
const live = computed<ReadonlyMap<string, Activity>>(() => {
  const found = new Map<string, Activity>();
  for (const { project, row } of waiting.value)
    if (row.kind !== 'queue') found.set(`${project}/${row.issue_id}`, 'retrying');
  for (const { project, row } of needsYou.value)
    if (row.kind === 'held' || row.kind === 'limit') found.set(`${project}/${row.issue_id}`, 'held');
  for (const { project, row } of running.value)
    found.set(`${project}/${row.issue_id}`, row.waits_for_person ? 'asking' : 'running');
  for (const { project, row } of needsYou.value)
    if (row.kind === 'question') found.set(`${project}/${row.issue_id}`, 'asking');
  return found;
});

export function activityOf(project: string, issueId: string): Activity | null {
  return live.value.get(`${project}/${issueId}`) ?? null;
}
