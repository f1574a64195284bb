import { eventLine } from '../../agent/event-line.ts';
import type { ReadModel } from '../../orchestrator/read-model.ts';
import type { IssueName } from '../../orchestrator/scheduling-state.ts';
import type { BoardIssue } from '../../store/board-issues.ts';

/** One ticket as a watcher sees it. */
export interface TicketRow {
  readonly identifier: string;
  readonly title: string;
  readonly state: string;
  readonly status: 'waiting' | 'running' | 'retrying' | 'held' | 'review' | 'done';
  /** What it does, or why it does not, in one line; empty when there is nothing to say. */
  readonly detail: string;
}

/** All tickets with what the orchestrator knows of each, in words that cannot steer a terminal, whoever wrote them. */
export function ticketRows(issues: readonly BoardIssue[], model: ReadModel): TicketRow[] {
  return issues.map((issue) => {
    const { status, detail } = statusOf(issue, model);
    return {
      identifier: eventLine(issue.identifier),
      title: eventLine(issue.title),
      state: eventLine(issue.status),
      status,
      detail: eventLine(detail),
    };
  });
}

function statusOf(issue: BoardIssue, model: ReadModel): Pick<TicketRow, 'status' | 'detail'> {
  const isThis = (entry: { readonly issue: IssueName }): boolean => entry.issue.id === issue.id;
  const running = model.running.find(isThis);
  if (running !== undefined) {
    const doing = running.lastEvent?.summary || running.stage.replaceAll('_', ' ');
    return { status: 'running', detail: running.attempt === null ? doing : `retry ${running.attempt}: ${doing}` };
  }
  if (issue.status === 'done' || issue.status === 'cancelled') return { status: 'done', detail: '' };
  if (issue.status === 'review') return { status: 'review', detail: 'its branch waits for a person to merge it' };
  const held = model.held.find(isThis);
  if (held !== undefined) return { status: 'held', detail: held.reason };
  const retrying = model.retrying.find(isThis);
  if (retrying !== undefined) {
    const why = retrying.error === null ? 'looks again' : `waits to try again: ${retrying.error}`;
    return { status: 'retrying', detail: why };
  }
  return { status: 'waiting', detail: model.skipped.find(isThis)?.reason.text ?? '' };
}
