import type { Timer } from '../../clock/clock.ts';
import type { AgentQuestion, QuestionAnswer } from '../../core/command/question.ts';
import { askCommand, retryCommand } from '../../core/command/retry-command.ts';
import type { StopReason } from '../../core/run/run.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { StoreTables } from '../../store/store.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { QuestionDraft, StoredQuestion } from '../../store/tables/words/questions.ts';
import type { IssueName, Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { Journal } from './journal.ts';
import { LateApprovals } from './late-approvals.ts';

export interface OpenQuestionsParts
  extends Pick<BaseParts, 'chance' | 'clock' | 'logger' | 'notify' | 'own' | 'project' | 'stopping' | 'store'> {
  readonly claims: Claims;
  readonly journal: Journal;
  readonly stopRun: (running: Running, reason: StopReason) => void;
}

/** A question whose agent is alive and waits. */
export interface OpenQuestion {
  readonly id: string;
  readonly issue: IssueName;
  readonly runId: string;
  readonly question: AgentQuestion;
  readonly askedAt: number;
  /** The id of the first question that this one repeats; absent when it is new to people. */
  readonly repeats?: string;
  /** Wall time at which the run ends without an answer. */
  readonly until: number;
}

interface Waiting extends OpenQuestion {
  readonly timer: Timer;
  readonly settle: (answer: QuestionAnswer | null) => void;
}

/** More questions than a person would answer for one run. */
const mostOpen = 20;

/** How many questions and runs of an issue are searched for an equal earlier question. */
const mostSearched = 50;

/** A question may quote long text of an agent; a hold reason must stay short. */
const longestInReason = 300;

/**
 * The questions of live agents. Each is in the store before a person can see it. An agent waits as long as the settings
 * of its run allow; then its run ends, the issue is held with the question, and a later answer is for the next run. A
 * question that the agent takes back is closed; one whose run ended otherwise stays open until the next run begins.
 */
export class OpenQuestions {
  readonly #parts: OpenQuestionsParts;
  readonly #waiting = new Map<string, Waiting>();
  /** How many questions each run has open, including those that are being written. */
  readonly #open = new Map<string, number>();
  /** Runs that had a question declined because too many were open. */
  readonly #refused = new Set<string>();
  /** Questions whose agent has the answer, until the delivery is in the store. */
  readonly #delivered = new Set<string>();
  readonly #late: LateApprovals;

  constructor(parts: OpenQuestionsParts) {
    this.#parts = parts;
    this.#late = new LateApprovals(parts);
  }

  /** A run begins with these answers. They may allow what it asks for next. */
  beginRun(runId: string, answers: readonly StoredQuestion[]): void {
    this.#late.keep(runId, answers);
  }

  list(): readonly OpenQuestion[] {
    return [...this.#waiting.values()].map(({ timer: _timer, settle: _settle, ...question }) => question);
  }

  /** Whether this run waits for a person: then its silence is not a stall. */
  isAsking(runId: string): boolean {
    return [...this.#waiting.values()].some((each) => each.runId === runId);
  }

  /** As `SessionRequest.ask`, for a run. */
  async ask(
    run: { readonly issue: IssueName; readonly runId: string },
    question: AgentQuestion,
    signal?: AbortSignal,
  ): Promise<QuestionAnswer | null> {
    const { logger } = this.#parts;
    const { issue, runId } = run;
    const open = this.#open.get(runId) ?? 0;
    if (open >= mostOpen) {
      // Once for each run: an agent must not be able to fill the log.
      if (!this.#refused.has(runId)) logger.warn('question_refused', { issue_id: issue.id, run_id: runId });
      this.#refused.add(runId);
      return null;
    }
    this.#open.set(runId, open + 1);
    try {
      return await this.#askOne(run, question, signal);
    } finally {
      this.#open.set(runId, (this.#open.get(runId) ?? 1) - 1);
    }
  }

  async #askOne(
    run: { readonly issue: IssueName; readonly runId: string },
    question: AgentQuestion,
    signal?: AbortSignal,
  ): Promise<QuestionAnswer | null> {
    const earlier = await this.#late.use(run, question);
    if (earlier !== null) return earlier;
    const { store, project, clock, chance, logger } = this.#parts;
    const { issue, runId } = run;
    const id = chance.id();
    const askedAt = clock.now();
    const named = { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId, question_id: id };
    let repeats: string | null = null;
    try {
      const draft = { id, project, issueId: issue.id, identifier: issue.identifier, runId, askedAt, question };
      // A run that has ended meanwhile asks no questions: they would never be closed.
      const isAsked = await store.transaction(async (tables) => {
        const written = await tables.runs.read(runId);
        if (written === null || written.finish !== null) return false;
        repeats = await firstAsked(tables, draft);
        await tables.questions.ask(draft);
        return true;
      });
      if (!isAsked) return null;
    } catch (error) {
      // A question that is not in the store is invisible, so no person could answer it.
      logger.error('question_write_failed', { ...named, error });
      this.#giveUp(issue.id, runId, unwritten(question, issue.identifier));
      return null;
    }
    logger.warn('question_asked', { ...named, kind: question.kind, question: harmlessLine(question.text) });
    return this.#wait({ id, issue, runId, question, askedAt, ...(repeats === null ? {} : { repeats }) }, signal);
  }

  /**
   * Passes the answer to the waiting agent. Also true when the agent already had it and the delivery could not be
   * stored.
   */
  answer(id: string, answer: QuestionAnswer): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) this.#delivered.add(id);
    waiting?.settle(answer);
    return this.#delivered.has(id);
  }

  /** The delivery is in the store. */
  forgetDelivered(id: string): void {
    this.#delivered.delete(id);
  }

  /** The run has ended: no agent waits any more. */
  endRun(runId: string): void {
    for (const each of this.#waiting.values()) if (each.runId === runId) each.settle(null);
    this.#open.delete(runId);
    this.#refused.delete(runId);
    this.#late.forget(runId);
  }

  #wait(asked: Omit<OpenQuestion, 'until'>, signal?: AbortSignal): Promise<QuestionAnswer | null> {
    const { clock, claims, notify } = this.#parts;
    const { id, issue, runId } = asked;
    const agent = claims.running.get(issue.id)?.workflow.settings.agent;
    // With `deny` no person is expected to answer: the run ends at once.
    const waitMs = agent === undefined || agent.approvals === 'deny' ? 0 : agent.askTimeoutMs;
    return new Promise((resolve) => {
      const settle = (answer: QuestionAnswer | null): void => {
        if (this.#waiting.get(id) !== waiting) return;
        this.#waiting.delete(id);
        waiting.timer.cancel();
        signal?.removeEventListener('abort', takenBack);
        // The time spent waiting must not count as silence of the agent.
        const running = claims.running.get(issue.id);
        if (running?.runId === runId) running.lastEventAtMonotonic = clock.monotonic();
        resolve(answer);
        notify();
      };
      const takenBack = (): void => {
        this.#closeIfTakenBack(id, issue.id, runId);
        settle(null);
      };
      const timer = clock.schedule(waitMs, () => {
        this.#giveUp(issue.id, runId, this.#unanswered(asked));
        settle(null);
      });
      const waiting: Waiting = { ...asked, until: asked.askedAt + waitMs, timer, settle };
      this.#waiting.set(id, waiting);
      signal?.addEventListener('abort', takenBack, { once: true });
      if (signal?.aborted === true) takenBack();
      notify();
    });
  }

  #unanswered({ question, id, runId, issue }: Omit<OpenQuestion, 'until'>): string {
    const isOnly = [...this.#waiting.values()].every((each) => each.runId !== runId || each.id === id);
    return `${asks(question)} To answer: ${askCommand(isOnly ? issue.identifier : id)}`;
  }

  /** A run that continues does not need the answer any more; for one that is being ended, the next run may get it. */
  #closeIfTakenBack(id: string, issueId: string, runId: string): void {
    const { claims, store, clock, stopping, own } = this.#parts;
    const running = claims.running.get(issueId);
    if (stopping.aborted || running?.runId !== runId || running.stopRequested !== null) return;
    own('question', store.questions.close(id, clock.now()));
  }

  #giveUp(issueId: string, runId: string, reason: string): void {
    const { claims, clock, own, stopRun } = this.#parts;
    const running = claims.running.get(issueId);
    if (running?.runId !== runId || running.stopRequested !== null) return;
    const { issue } = running;
    // A hold that was asked for elsewhere explains more.
    if (running.holdAfterwards === null)
      own('hold', claims.hold({ issue, code: 'agent_input_required', reason, since: clock.now(), runId }));
    stopRun(running, 'unanswered');
  }
}

/**
 * The first of several questions that are the same one to a person: its run was ended before the answer, for example by
 * a restart, the next run asked the same, and so on until this one. Null when this one is new: it was not asked before,
 * a person answered it, it was not answered in time and a person let the issue continue, or the agent took it back.
 */
async function firstAsked(
  { questions, runs }: Pick<StoreTables, 'questions' | 'runs'>,
  { project, issueId, runId, question }: QuestionDraft,
): Promise<string | null> {
  const query = { issueId, limit: mostSearched };
  const same = (await questions.list(project, query)).filter((each) => isSame(each.question, question));
  if (same.length === 0 || same.some((each) => each.runId === runId)) return null;
  const all = await runs.list(project, query);
  let first: string | null = null;
  for (const run of all.slice(all.findIndex((each) => each.runId === runId) + 1)) {
    const asked = same.find((each) => each.runId === run.runId);
    if (asked === undefined ? run.finish?.outcome !== 'interrupted' : !endedWith(run, asked)) break;
    first = asked?.id ?? first;
  }
  return first;
}

function isSame(one: AgentQuestion, other: AgentQuestion): boolean {
  if (one.kind !== other.kind || one.requestHash !== other.requestHash) return false;
  return one.text === other.text && one.detail === other.detail;
}

/**
 * Whether the question was still open when its run ended for another reason: not answered, and not taken back by the
 * agent.
 */
function endedWith({ finish }: RunRecord, { given, closedAt }: StoredQuestion): boolean {
  if (finish === null || given !== null || finish.errorCode === 'agent_input_required') return false;
  return closedAt === null || closedAt >= finish.endedAt;
}

/** No person can answer a question that is not in the store. The next run asks again, if it still matters. */
function unwritten(question: AgentQuestion, identifier: string): string {
  return `${asks(question)} Baton could not store the question, so no one can answer it. To continue: ${retryCommand(identifier)}`;
}

function asks({ text }: AgentQuestion): string {
  return `The agent asks: ${harmlessLine(text).slice(0, longestInReason)}`;
}
