import { computed } from '@preact/signals';
import type { IssueSummary } from '../../../src/client/schema/issue.ts';
import type { RunningRow } from '../../../src/client/schema/now.ts';
import { accounts, needsYou, running, waiting } from '../connection/live.ts';
import { reasonWords } from '../text/gate-words.ts';

export type Activity = NonNullable<IssueSummary['activity']>;

export const activities: readonly Activity[] = ['asking', 'held', 'running', 'retrying'];

/** What Baton does with an issue now, and since when or until when. */
export interface LiveIssue {
  readonly activity: Activity | 'review';
  /** The question, or why it waits or is held; null while an agent works. */
  readonly text: string | null;
  /** Who works on it; null when no one does. */
  readonly agent: string | null;
  /** The start of the run or of the wait for a person; for a retry, when it is checked next. */
  readonly at: string | null;
}

/**
 * Baton's current activity on each issue, by `project/issue`: from the rows, which are newer than any list read before.
 */
const live = computed<ReadonlyMap<string, LiveIssue>>(() => {
  const found = new Map<string, LiveIssue>();
  const put = (project: string, issue: string | null, of: LiveIssue): void => {
    found.set(`${project}/${issue}`, of);
  };
  for (const { project, row } of waiting.value)
    if (row.kind !== 'queue')
      put(project, row.issue_id, {
        activity: 'retrying',
        text: reasonWords(row.reason),
        agent: null,
        at: row.next_check_at,
      });
  for (const { project, row } of needsYou.value)
    if (row.kind === 'review')
      put(project, row.issue_id, { activity: 'review', text: row.reason, agent: null, at: row.since });
  for (const { project, row } of needsYou.value)
    if (row.kind === 'held' || row.kind === 'limit')
      put(project, row.issue_id, { activity: 'held', text: reasonWords(row.reason), agent: null, at: row.since });
  for (const { project, row } of running.value) {
    const activity = row.waits_for_person ? 'asking' : 'running';
    put(project, row.issue_id, { activity, text: null, agent: agentName(project, row), at: row.started_at });
  }
  for (const { project, row } of needsYou.value)
    if (row.kind === 'question') {
      const agent = liveAt(found, project, row.issue_id)?.agent ?? null;
      put(project, row.issue_id, { activity: 'asking', text: row.reason, agent, at: row.since });
    }
  return found;
});

/** The name of the agent in the workflow file; for the only one, the program. */
function agentName(project: string, { agent, account }: Pick<RunningRow, 'agent' | 'account'>): string {
  if (agent !== 'default') return agent;
  const of = accounts.value.find((each) => each.project === project && each.row.name === account);
  return of?.row.backend ?? 'agent';
}

function liveAt(all: ReadonlyMap<string, LiveIssue>, project: string, issue: string | null): LiveIssue | undefined {
  return all.get(`${project}/${issue}`);
}

export function liveOf(project: string, issueId: string): LiveIssue | null {
  return liveAt(live.value, project, issueId) ?? null;
}

export function activityOf(project: string, issueId: string): Activity | null {
  const activity = liveOf(project, issueId)?.activity ?? null;
  return activity === 'review' ? null : activity;
}
