import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { EarlierWork } from '../core/earlier-work.ts';
import type { SkipReason } from '../core/eligibility.ts';
import { type Issue, normalizeState } from '../core/issue.ts';
import type { RunOutcome, StopReason } from '../core/run.ts';
import type { AccountSettings } from '../core/settings.ts';
import { stateOnceStarted } from '../core/slots.ts';
import { stopOutcome } from '../core/stop-outcome.ts';
import { threadToResume } from '../core/thread-to-resume.ts';
import type { LiveRun, RunRequest, ToldAnswer } from '../runner/runner.ts';
import type { StoredQuestion } from '../store/questions.ts';
import type { RunRecord } from '../store/runs.ts';
import type { OrchestratorContext } from './context.ts';
import type { RunAnswer } from './run-wish.ts';
import type { HeldEntry, IssueCounts } from './scheduling-state.ts';

export interface RecordedRunRequest
  extends Omit<RunRequest, 'threadId' | 'isStillOurs' | 'account' | 'answers' | 'answersBefore' | 'earlier'> {
  /** The start is written down; this is what was counted of the issue before, and the account it uses. */
  readonly onBegun: (before: IssueCounts, account: AccountSettings) => void;
  /** Baton moved the issue because work begins on it. */
  readonly onMoved: (issue: Issue) => void;
}

/** Why nothing began. */
export interface NotBegun {
  readonly reason: SkipReason;
  /** The issue is held instead. */
  readonly held: HeldEntry | null;
  /** Our claim on it is gone. */
  readonly isLost: boolean;
}

/** A run that begins only when the store has taken its start. Of the two promises one is kept. */
export interface RecordedRun extends LiveRun {
  /** Null when it has begun; then `outcome` follows. */
  readonly notBegun: Promise<NotBegun | null>;
  /** Nothing of it is left, whether it began or not. */
  readonly over: Promise<void>;
}

/**
 * Writes a run down, then begins it. When the store does not take the start, or the tracker refuses that work begins
 * because somebody moved the issue meanwhile, it does not begin (seed 4, Layer 1). Nor does one that is stopped before.
 */
export function startRecordedRun(context: OrchestratorContext, request: RecordedRunRequest): RecordedRun {
  let live: LiveRun | null = null;
  let stopReason: StopReason | null = null;
  const stopped = new AbortController();
  let askedAt = 0;
  const notBegun = Promise.withResolvers<NotBegun | null>();
  const run = async (): Promise<RunOutcome> => {
    askedAt = context.clock.monotonic();
    const answer = await writeStart(context, request).catch((thrown) => refusedBy(context, request, thrown));
    if (!answer.isBegun) {
      const { refusal: reason, held } = answer;
      notBegun.resolve({ reason, held, isLost: reason.code === 'claimed_elsewhere' });
      // Nothing began, so nothing ends.
      return new Promise(() => {});
    }
    context.journal.runStarts(request.runId, answer.generation);
    request.onBegun(answer.before, accountOf(request, answer));
    notBegun.resolve(null);
    return begun(answer);
  };
  const begun = async (answer: RunAnswer & { isBegun: true }): Promise<RunOutcome> => {
    const stoppedBefore = stopReason ?? (context.stopping.aborted ? 'shutdown' : null);
    if (stoppedBefore !== null) return stopOutcome(stoppedBefore, 0);
    let issue: Issue;
    try {
      issue = await beginWork(context, request, AbortSignal.any([context.stopping, stopped.signal]));
    } catch (thrown) {
      // A stop explains whatever went wrong after it: it is no failure of the run.
      if (stopReason !== null || context.stopping.aborted) return stopOutcome(stopReason ?? 'shutdown', 0);
      return notAllowed(toBatonError(thrown, 'tracker_request'));
    }
    if (stopReason !== null || context.stopping.aborted) return stopOutcome(stopReason ?? 'shutdown', 0);
    // A daemon that was frozen, or waited for the store too long, may have lost the issue to another one meanwhile.
    if (!context.isClaimSafe(askedAt)) return stopOutcome('claim_lost', 0);
    try {
      const isStillOurs = (): boolean => context.isClaimSafe(askedAt);
      live = context.runner.start({ ...runRequest(context, request, answer), issue, isStillOurs });
    } catch (thrown) {
      return { end: 'failed', turns: 0, error: toBatonError(thrown) };
    }
    return live.outcome.catch(withoutOutcome);
  };
  const outcome = run();
  return {
    notBegun: notBegun.promise,
    outcome,
    over: notBegun.promise.then(async (why) => (why === null ? void (await outcome) : undefined)),
    steer: async (text) => {
      if (live !== null) return live.steer(text);
      throw new BatonError('command_refused', 'Its run is just beginning; say it again in a moment.', {
        details: { problem: 'run_beginning' },
      });
    },
    canHear: () => live?.canHear?.() ?? true,
    stop: (reason) => {
      stopReason ??= reason;
      stopped.abort();
      live?.stop(reason);
    },
  };
}

function writeStart(context: OrchestratorContext, request: RecordedRunRequest): Promise<RunAnswer> {
  const { runId, issue, workflow, attempt, retryKind, recovery } = request;
  const { settings } = workflow;
  context.logger.debug('run_recorded', { issue_id: issue.id, run_id: runId, attempt });
  return context.ledger.beginRun({
    record: {
      runId,
      issueId: issue.id,
      identifier: issue.identifier,
      role: 'worker',
      attempt,
      retryKind,
      recovery,
      backend: settings.agent.backend,
      startedAt: context.clock.now(),
    },
    whyNoAccount: (tables) => context.accounts.whyNoneIn(tables, settings.agent),
    takeAccount: async (tables, last) =>
      (await context.accounts.take(tables, settings.agent, { preferred: last?.account ?? null, runId })).name,
    note: request.note,
    slotState: stateOnceStarted(issue, context.trackerFor(settings).startMove),
    settings,
  });
}

function refusedBy({ logger }: OrchestratorContext, request: RecordedRunRequest, thrown: unknown): RunAnswer {
  const error = toBatonError(thrown);
  const { id, identifier } = request.issue;
  logger.error('run_start_write_failed', {
    issue_id: id,
    issue_identifier: identifier,
    error,
  });
  return {
    isBegun: false,
    refusal: { code: 'not_recorded', text: `its start could not be written down: ${error.message}` },
    held: null,
  };
}

/** What the runner is told, beside the issue as it is now. */
function runRequest(
  context: OrchestratorContext,
  request: RecordedRunRequest,
  answer: RunAnswer & { isBegun: true },
): Omit<RunRequest, 'issue' | 'isStillOurs'> {
  const { runId, workflow, attempt, retryKind, recovery, watcher, ask } = request;
  const { backend } = workflow.settings.agent;
  const { earlier, answers, answersBefore, note } = answer;
  // One that died before its first turn has nothing to tell.
  const last = earlier.find(({ turns }) => turns > 0) ?? earlier[0] ?? null;
  let isNoteTold = note === null;
  context.questions.beginRun(runId, answers);
  const onFirstTurn = (): void => {
    if (isNoteTold) return;
    isNoteTold = true;
    context.journal.note(runId, { note: null });
    // Not a moment later: after a crash the next run would be told it again.
    context.own('journal', context.journal.flush());
  };
  return {
    ...{ runId, workflow, attempt, retryKind, recovery, note, ask },
    threadId: threadToResume({ retryKind, recovery, backend }, earlier),
    account: accountOf(request, answer),
    answers: toldAnswers(answers),
    // A permission was for the run that asked; what a person said is for the ticket.
    answersBefore: toldAnswers(answersBefore.filter(({ question }) => question.kind === 'input')),
    earlier: last === null ? null : earlierWork(last),
    watcher: {
      ...watcher,
      onAnswersTold: () => {
        watcher.onAnswersTold();
        const told = answers.map(({ id }) => id);
        if (told.length > 0) context.own('answers', context.store.questions.deliver(told, runId));
      },
      onEvent: (event) => {
        if (event.name === 'turn_started') onFirstTurn();
        watcher.onEvent(event);
      },
    },
  };
}

function toldAnswers(questions: readonly StoredQuestion[]): ToldAnswer[] {
  return questions.flatMap(({ question, given }) => (given === null ? [] : [{ question, answer: given.answer }]));
}

function earlierWork({ finish, turns, lastMessage, evidence }: RunRecord): EarlierWork {
  return { endedBecause: finish?.errorMessage ?? null, turns, lastMessage, evidence };
}

/** As the settings of the run have it; an account that was renamed meanwhile is found again by what takes its place. */
function accountOf({ workflow }: RecordedRunRequest, { account }: RunAnswer & { isBegun: true }): AccountSettings {
  const { accounts, backend } = workflow.settings.agent;
  const ofBackend = accounts.filter((each) => each.backend === backend);
  const named = ofBackend.find(({ name }) => name === account) ?? ofBackend[0];
  return named ?? { name: backend, backend, env: {}, home: null };
}

/** A run that breaks its promise to tell how it ended: what is left of it nobody knows. */
function withoutOutcome(thrown: unknown): RunOutcome {
  const error = new BatonError('agent_survives', 'The run broke off without telling how it ended.', { cause: thrown });
  return { end: 'failed', turns: 0, error };
}

/** Moves the issue on where that is Baton's business: on the board from todo to in_progress. */
async function beginWork(
  context: OrchestratorContext,
  request: RecordedRunRequest,
  signal: AbortSignal,
): Promise<Issue> {
  const { issue, workflow } = request;
  context.logger.info('run_started', {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    run_id: request.runId,
    attempt: request.attempt,
  });
  const { changes, startMove } = context.trackerFor(workflow.settings);
  if (changes === null || startMove === undefined) return issue;
  if (normalizeState(issue.state) !== normalizeState(startMove.from)) return issue;
  const moved = await changes.moveIssue(
    issue.id,
    startMove.to,
    { kind: 'orchestrator' },
    {
      signal,
      caller: { job: 'dispatch', cause: 'agent' },
    },
  );
  context.reads.forget(issue.id);
  request.onMoved(moved);
  return moved;
}

/** A move that the board refuses is somebody's decision and gives the issue back; everything else is a failure and waits. */
function notAllowed(error: BatonError): RunOutcome {
  if (error.code !== 'board_move_refused') return { end: 'failed', turns: 0, error };
  const refusal = new BatonError('run_cancelled', `The run did not begin: ${error.message}`, { cause: error });
  return { end: 'canceled_by_reconciliation', turns: 0, error: refusal };
}
