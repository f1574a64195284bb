import type { StreamEvent } from '../../../src/client/schema/event.ts';

/** A run is read again at most this often while its row changes with every event. */
const againMs = 5_000;

/** Says whether an event is a reason to read a run again: now and then while it runs, at a new turn or stage, at its end. */
export function createRunNews(project: string, runId: string, now: () => number): (event: StreamEvent) => boolean {
  let readAt = Number.NEGATIVE_INFINITY;
  let said = '';
  let issue: unknown = null;
  return (event) => {
    if (event.name === 'issue_changed') return event.data.project === project && event.data.issue_id === issue;
    if (event.name !== 'patch' || event.data.project !== project) return false;
    const row = event.data.set.running?.find(({ run_id }) => run_id === runId);
    if (row === undefined) return event.data.drop.running?.includes(runId) ?? false;
    issue = row.issue_id;
    const saysNow = JSON.stringify([row.stage, row.turn, row.waits_for_person]);
    if (saysNow === said && now() - readAt < againMs) return false;
    [said, readAt] = [saysNow, now()];
    return true;
  };
}
