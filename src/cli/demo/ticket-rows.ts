import { eventLine } from '../../agent/event-line.ts';
import type { AgentQuestion } from '../../core/question.ts';
import type { ReadModel, RetryingView } from '../../orchestrator/read-model.ts';
import type { IssueName } from '../../orchestrator/scheduling-state.ts';
import type { BoardIssue } from '../../store/board-issues.ts';

/** How each status is called on a screen. */
export const statusWords = {
  waiting: 'waiting',
  running: 'running',
  asking: 'asks you',
  retrying: 'retrying',
  waiting_quota: 'no quota',
  held: 'held',
  review: 'review',
  done: 'done',
} as const;

/** A reason tells the command for the folder of the workflow file; the demo tells the one that works everywhere. */
const answerElsewhere = / To answer: baton ask show \S+$/;

/** One ticket as a watcher sees it. */
export interface TicketRow {
  readonly identifier: string;
  readonly title: string;
  readonly state: string;
  readonly status: keyof typeof statusWords;
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
  const asked = model.questions.find(isThis);
  if (asked !== undefined) return { status: 'asking', detail: questionText(asked.question) };
  const running = model.running.find(isThis);
  if (running !== undefined) {
    const doing = running.lastEvent?.summary || running.stage.replaceAll('_', ' ');
    return { status: 'running', detail: running.attempt === null ? doing : `retry ${running.attempt}: ${doing}` };
  }
  if (issue.status === 'done' || issue.status === 'cancelled') return { status: 'done', detail: '' };
  if (issue.status === 'review') return { status: 'review', detail: 'its branch waits for a person to merge it' };
  const held = model.held.find(isThis);
  if (held !== undefined) return { status: 'held', detail: held.reason.replace(answerElsewhere, '') };
  const unpaid = model.waitingQuota.find(isThis);
  // There is quota again, and something else that it waits for.
  if (unpaid !== undefined && unpaid.waitCode !== null && unpaid.waitCode !== 'waiting_quota')
    return { status: 'waiting', detail: unpaid.waitReason ?? '' };
  if (unpaid !== undefined) return { status: 'waiting_quota', detail: quotaText(unpaid, model) };
  const retrying = model.retrying.find(isThis);
  if (retrying !== undefined) {
    const why = retrying.error === null ? 'looks again' : `waits to try again: ${retrying.error}`;
    return { status: 'retrying', detail: why };
  }
  return { status: 'waiting', detail: model.skipped.find(isThis)?.reason.text ?? '' };
}

function questionText({ text, fields }: AgentQuestion): string {
  const options = fields[0]?.options ?? [];
  return options.length === 0 ? text : `${text} (${options.join(', or ')})`;
}

function quotaText({ dueAt, waitReason, error }: RetryingView, model: ReadModel): string {
  const why = withoutQuota(model) || waitReason || error || 'its account has none left';
  return `waits until ${timeOfDay(dueAt)} for quota: ${why}`;
}

/** The accounts that nothing starts on now, and until when; empty when all are ready. */
export function withoutQuota({ accounts }: ReadModel): string {
  return accounts
    .filter(({ waitsFor }) => waitsFor !== null)
    .map(({ name, parked }) => `${name} has none${parked === null ? '' : ` until ${timeOfDay(parked.until)}`}`)
    .join(', ');
}

/** As the lines of the demo tell the time. */
export function timeOfDay(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}
