import { eventLine } from '../../agent/event-line.ts';
import type { Issue } from '../../core/issue.ts';
import type { ReadModel } from '../../orchestrator/read-model.ts';

/** One ticket as a watcher sees it. */
export interface TicketRow {
  readonly identifier: string;
  readonly title: string;
  readonly state: string;
  readonly status: 'waiting' | 'running' | 'retrying' | 'held' | 'done';
  /** What it does, or why it does not, in one line; empty when there is nothing to say. */
  readonly detail: string;
}

/** All tickets with what the orchestrator knows of each, in words that cannot steer a terminal, whoever wrote them. */
export function ticketRows(issues: readonly Issue[], model: ReadModel, terminalStates: readonly string[]): TicketRow[] {
  return issues.map((issue) => {
    const { status, detail } = statusOf(issue, model, terminalStates);
    return {
      identifier: eventLine(issue.identifier),
      title: eventLine(issue.title),
      state: eventLine(issue.state),
      status,
      detail: eventLine(detail),
    };
  });
}

function statusOf(
  issue: Issue,
  model: ReadModel,
  terminalStates: readonly string[],
): Pick<TicketRow, 'status' | 'detail'> {
  const isThis = (entry: { readonly issue: Issue }): boolean => entry.issue.id === issue.id;
  const running = model.running.find(isThis);
  if (running !== undefined) {
    const doing = running.lastEvent?.summary || running.stage.replaceAll('_', ' ');
    return { status: 'running', detail: running.attempt === null ? doing : `retry ${running.attempt}: ${doing}` };
  }
  if (terminalStates.includes(issue.state)) return { status: 'done', detail: '' };
  const held = model.held.find(isThis);
  if (held !== undefined) return { status: 'held', detail: held.reason };
  const retrying = model.retrying.find(isThis);
  if (retrying !== undefined) {
    const why = retrying.error === null ? 'looks again' : `tries again, for ${retrying.error}`;
    return { status: 'retrying', detail: why };
  }
  return { status: 'waiting', detail: model.skipped.find(isThis)?.reason.text ?? '' };
}
