import { eventLine } from '../src/agent/event-line.ts';
import type { AgentQuestion } from '../src/core/command/question.ts';
import { harmlessLine } from '../src/core/text/harmless-line.ts';
import type { IssueName } from '../src/orchestrator/claims/claim.ts';
import type { ReadModel, RetryingView, RunningView } from '../src/orchestrator/view/read-model.ts';
import type { BoardIssue } from '../src/store/tables/board-issues.ts';

/** The word for each status in a line. */
export const statusWords = {
  backlog: 'backlog',
  waiting: 'waiting',
  running: 'running',
  asking: 'asks',
  retrying: 'retrying',
  waiting_quota: 'no quota',
  held: 'held',
  review: 'review',
  done: 'done',
} as const;

/** One issue as a watcher sees it. */
export interface IssueRow {
  readonly identifier: string;
  readonly title: string;
  readonly state: string;
  /** Its phase of the pipeline; null: not known at this moment. */
  readonly phase: string | null;
  readonly status: keyof typeof statusWords;
  /** What the agent does, or why it does not, in one line; empty when there is nothing to say. */
  readonly detail: string;
  /** The code of why it does not start or continue; null while nothing prevents it. */
  readonly code: string | null;
  /** When Baton tries it again, in ISO format; null when that is not known. */
  readonly until: string | null;
}

/** Makes the commands in a reason work, whichever folder the reader is in. */
export type Here = (text: string) => string;

/** All issues with what the orchestrator knows of each, in words that cannot steer a terminal. */
export function issueRows(issues: readonly BoardIssue[], model: ReadModel, here: Here): IssueRow[] {
  return issues.map((issue) => {
    const { status, detail, code = null, until = null } = statusOf(issue, model, here);
    return {
      identifier: eventLine(issue.identifier),
      title: eventLine(issue.title),
      state: eventLine(issue.status),
      phase: model.phases.get(issue.id)?.record.phase ?? null,
      status,
      // The reason of a hold ends with a command, and one that is cut off cannot be typed.
      detail: status === 'held' ? harmlessLine(detail) : eventLine(detail),
      code,
      until: until === null ? null : new Date(until).toISOString(),
    };
  });
}

interface Status extends Pick<IssueRow, 'status' | 'detail'> {
  readonly code?: string | null;
  readonly until?: number;
}

function statusOf(issue: BoardIssue, model: ReadModel, here: Here): Status {
  const isThis = (entry: { readonly issue: IssueName }): boolean => entry.issue.id === issue.id;
  const asked = model.questions.find(isThis);
  if (asked !== undefined) return { status: 'asking', detail: questionText(asked.question) };
  const running = model.running.find(isThis);
  if (running !== undefined) return { status: 'running', detail: runningText(running) };
  if (issue.status === 'done' || issue.status === 'cancelled') return { status: 'done', detail: '' };
  if (issue.status === 'review') return { status: 'review', detail: 'its change waits for a person' };
  const held = model.held.find(isThis);
  if (held !== undefined) {
    return { status: 'held', detail: here(held.reason), code: held.code };
  }
  const unpaid = model.waitingQuota.find(isThis);
  // It has quota again, and now waits for something else.
  if (unpaid !== undefined && unpaid.waitCode !== null && unpaid.waitCode !== 'waiting_quota')
    return { status: 'waiting', detail: unpaid.waitReason ?? '', code: unpaid.waitCode };
  if (unpaid !== undefined)
    return { status: 'waiting_quota', detail: quotaText(unpaid, model), code: 'waiting_quota', until: unpaid.dueAt };
  const retrying = model.retrying.find(isThis);
  if (retrying?.kind === 'review') return { status: 'review', detail: 'its change goes to review' };
  if (retrying !== undefined) {
    const why =
      retrying.error === null
        ? (continuations[retrying.kind] ?? 'continues soon')
        : `will try again: ${retrying.error}`;
    return { status: 'retrying', detail: why, code: retrying.waitCode, until: retrying.dueAt };
  }
  if (issue.status === 'backlog') return { status: 'backlog', detail: 'move it to todo to start it' };
  const skipped = model.skipped.find(isThis)?.reason;
  return { status: 'waiting', detail: skipped?.text ?? '', code: skipped?.code ?? null };
}

const continuations: Partial<Record<RetryingView['kind'], string>> = {
  revision: 'its artifact was sent back',
  continuation: 'checks whether it needs another run',
};

function runningText({ lastEvent, stage, attempt }: RunningView): string {
  // Until the agent goes on, its last event is the question, which has its answer now.
  const isAnswered = lastEvent?.name === 'approval_required';
  const doing = isAnswered ? 'has its answer' : lastEvent?.summary || stage.replaceAll('_', ' ');
  return attempt === null ? doing : `retry ${attempt}: ${doing}`;
}

function questionText({ text, fields }: AgentQuestion): string {
  const options = fields[0]?.options ?? [];
  return options.length === 0 ? text : `${text} (${options.join(', or ')})`;
}

/** It goes on when the first account has quota again, which may be sooner than the last one that it tried. */
function quotaText({ dueAt, waitReason, error }: RetryingView, { accounts, at }: ReadModel): string {
  const empty = accounts.flatMap(({ name, waitsFor }) => (waitsFor === null ? [] : [name]));
  const next = `Baton tries again ${dueAt > at ? `at ${timeOfDay(dueAt)}` : 'now'}`;
  if (empty.length === 0) return `${next}: ${waitReason || error || 'its account has no quota left'}`;
  const who = empty.length === 1 ? `the account ${empty[0]} has` : `the accounts ${empty.join(' and ')} have`;
  return `${who} no quota; ${next}`;
}

/** The time as the lines of the demo show it. */
export function timeOfDay(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}
