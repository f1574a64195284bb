import type { Timer } from '../../clock/clock.ts';
import type { AgentQuestion, QuestionAnswer } from '../../core/command/question.ts';
import { askCommand, retryCommand } from '../../core/command/retry-command.ts';
import type { StopReason } from '../../core/run/run.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { StoreTables } from '../../store/store.ts';
import type { QuestionDraft, StoredQuestion } from '../../store/tables/questions.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
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

/** A question whose agent lives and waits. */
export interface OpenQuestion {
  readonly id: string;
  readonly issue: IssueName;
  readonly runId: string;
  readonly question: AgentQuestion;
  readonly askedAt: number;
  /** The question that this one asks once more, by its id; absent: it is a new one to whoever was told of the others. */
  readonly repeats?: string;
  /** Wall time at which the run ends without an answer. */
  readonly until: number;
}

interface Waiting extends OpenQuestion {
  readonly timer: Timer;
  readonly settle: (answer: QuestionAnswer | null) => void;
}

/** More than a person would answer for one run. */
const mostOpen = 20;

/** So many questions, and runs, of an issue are looked through for one that was asked before. */
const mostLookedBack = 50;

/** A question may quote what an agent wrote; a reason is for reading at a glance. */
const longestInReason = 300;

/**
 * The questions of live agents. Each is in the store before anybody can see it. An agent waits as long as the settings of
 * its run allow; then its run ends, the issue is held with the question, and an answer that comes later is for the next
 * run. A question that the agent takes back is closed; one whose run ended otherwise stays open until the next run begins.
 */
export class OpenQuestions {
  readonly #parts: OpenQuestionsParts;
  readonly #waiting = new Map<string, Waiting>();
  /** How many questions each run has open, those on their way to the store included. */
  readonly #open = new Map<string, number>();
  /** Answers that an agent was told, until that is in the store. */
  readonly #told = new Set<string>();
  readonly #late: LateApprovals;

  constructor(parts: OpenQuestionsParts) {
    this.#parts = parts;
    this.#late = new LateApprovals(parts);
  }

  /** A run begins that is told these answers; what they allow may be what it asks for next. */
  beginRun(runId: string, answers: readonly StoredQuestion[]): void {
    this.#late.keep(runId, answers);
  }

  list(): readonly OpenQuestion[] {
    return [...this.#waiting.values()].map(({ timer: _timer, settle: _settle, ...question }) => question);
  }

  /** Whether this run waits for a person: then it is silent because nobody has answered. */
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
      logger.warn('question_refused', { issue_id: issue.id, run_id: runId });
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
      // A run that has ended meanwhile asks nothing any more: nobody would close it.
      const isAsked = await store.transaction(async (tables) => {
        const written = await tables.runs.read(runId);
        if (written === null || written.finish !== null) return false;
        repeats = await firstAsked(tables, draft);
        await tables.questions.ask(draft);
        return true;
      });
      if (!isAsked) return null;
    } catch (error) {
      // Nobody could see it, so nobody would answer.
      logger.error('question_write_failed', { ...named, error });
      this.#giveUp(issue.id, runId, unwritten(question, issue.identifier));
      return null;
    }
    logger.warn('question_asked', { ...named, kind: question.kind, question: harmlessLine(question.text) });
    return this.#wait({ id, issue, runId, question, askedAt, ...(repeats === null ? {} : { repeats }) }, signal);
  }

  /** Tells the agent that asked; true also when it was told before and that could not be written down. */
  answer(id: string, answer: QuestionAnswer): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) this.#told.add(id);
    waiting?.settle(answer);
    return this.#told.has(id);
  }

  /** That it was told is in the store. */
  forgetTold(id: string): void {
    this.#told.delete(id);
  }

  /** The run has ended: nobody waits any more. */
  endRun(runId: string): void {
    for (const each of this.#waiting.values()) if (each.runId === runId) each.settle(null);
    this.#open.delete(runId);
    this.#late.forget(runId);
  }

  #wait(asked: Omit<OpenQuestion, 'until'>, signal?: AbortSignal): Promise<QuestionAnswer | null> {
    const { clock, claims, notify } = this.#parts;
    const { id, issue, runId } = asked;
    const agent = claims.running.get(issue.id)?.workflow.settings.agent;
    // Without `ask` nobody is expected to be there: what cannot be answered by itself ends the run at once.
    const waitMs = agent?.approvals === 'ask' ? agent.askTimeoutMs : 0;
    return new Promise((resolve) => {
      const settle = (answer: QuestionAnswer | null): void => {
        if (this.#waiting.get(id) !== waiting) return;
        this.#waiting.delete(id);
        waiting.timer.cancel();
        signal?.removeEventListener('abort', takenBack);
        // What it waited for is not its silence.
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

  /** A run that goes on does not want to know any more; one that is being ended may get the answer in its next run. */
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
    // A hold that somebody else asked for says more.
    if (running.holdAfterwards === null)
      own('hold', claims.hold({ issue, code: 'agent_input_required', reason, since: clock.now(), runId }));
    stopRun(running, 'unanswered');
  }
}

/**
 * The first of several questions that are one to a person: its run was ended under it, by a restart say, the next run asked
 * the same, and so on to this one. Null when this one is new: nobody asked before, somebody answered, nobody did in time and
 * a person let the issue go on, or the agent took it back.
 */
async function firstAsked(
  { questions, runs }: Pick<StoreTables, 'questions' | 'runs'>,
  { project, issueId, runId, question }: QuestionDraft,
): Promise<string | null> {
  const query = { issueId, limit: mostLookedBack };
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
  return one.kind === other.kind && one.text === other.text && one.detail === other.detail;
}

/** Nobody answered and the agent did not take it back: it was open when its run ended, and not for want of an answer. */
function endedWith({ finish }: RunRecord, { given, closedAt }: StoredQuestion): boolean {
  if (finish === null || given !== null || finish.errorCode === 'agent_input_required') return false;
  return closedAt === null || closedAt >= finish.endedAt;
}

/** Nobody can answer what is in no store; the next run asks again, if it still matters. */
function unwritten(question: AgentQuestion, identifier: string): string {
  return `${asks(question)} It could not be written down, so it cannot be answered. To go on: ${retryCommand(identifier)}`;
}

function asks({ text }: AgentQuestion): string {
  return `The agent asks: ${harmlessLine(text).slice(0, longestInReason)}`;
}
