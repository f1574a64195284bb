import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { stateOnceStarted } from '../../core/dispatch/slots.ts';
import { type Issue, normalizeState } from '../../core/issue/issue.ts';
import type { Learning } from '../../core/learning/learning.ts';
import { defaultAgent } from '../../core/run/choose-agent.ts';
import type { EarlierWork } from '../../core/run/earlier-work.ts';
import { isJudge, type Role } from '../../core/run/role.ts';
import type { RunOutcome, StopReason } from '../../core/run/run.ts';
import { stopOutcome } from '../../core/run/stop-outcome.ts';
import { threadToResume } from '../../core/run/thread-to-resume.ts';
import type { AccountSettings, Settings } from '../../core/settings.ts';
import { isTaskRole } from '../../core/task/task.ts';
import type { Workflow } from '../../core/workflow.ts';
import type {
  AnsweredQuestion,
  JudgeBrief,
  PartOfIssue,
  PhaseBrief,
  Runner,
  RunRequest,
  TaskBrief,
} from '../../runner/runner.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { StoredQuestion } from '../../store/tables/words/questions.ts';
import type { Tracker } from '../../tracker/tracker.ts';
import type { BegunRun, RefusedRun, StartRequest } from '../claims/begin-run.ts';
import type { Retrying, Running } from '../claims/claim.ts';
import { agentOf } from '../dispatch/agent-of.ts';
import type { SkippedIssues } from '../dispatch/skipped.ts';
import { completePhase } from '../pipeline/complete-phase.ts';
import { briefForPhase } from '../pipeline/phase-brief.ts';
import type { Phases } from '../pipeline/phases.ts';
import { makePlan } from '../planner/make-plan.ts';
import { partsOfIssue } from '../planner/parent-brief.ts';
import { briefFor, type JudgeBriefParts, type Judges } from '../review/judges.ts';
import type { OpenProposals } from '../tasks/open-proposals.ts';
import { briefForTask } from '../tasks/task-runs.ts';
import { offerLearnings } from './offer-learnings.ts';
import { type RecordFactsParts, recordFacts } from './record-facts.ts';
import { newRunState, type RunState, waitingForPerson } from './run-state.ts';
import { type SettleParts, settleRun } from './settle-run.ts';

export interface RunsParts extends SettleParts, Omit<RecordFactsParts, 'stopRun'>, Pick<JudgeBriefParts, 'pullsFor'> {
  readonly runner: Runner;
  readonly trackerFor: (settings: Settings) => Tracker;
  readonly skipped: SkippedIssues;
  readonly judges: Judges;
  readonly phases: Phases;
  readonly proposals: OpenProposals;
  /** Whether a claim that was requested at this monotonic time is certainly still ours. */
  readonly isClaimSafe: (claimedAt: number) => boolean;
  /** Another daemon seems to have the issue, or a dead one left it: then this daemon may inherit it. */
  readonly inherit: (issueId: string) => void;
}

export interface RunStart {
  readonly issue: Issue;
  readonly workflow: Workflow;
  readonly role: Role;
  /** The retry that led to this start; null for a free issue. */
  readonly retry: Retrying | null;
}

/**
 * The runs of this daemon, from the decision to start one until its end is written. What must hold: a run begins only
 * when the store has its start, and only if the tracker does not refuse the start because another user moved the issue
 * meanwhile (seed 4, Layer 1). A run that is stopped earlier does not begin. A run that has begun always ends with an
 * outcome, which is written.
 */
export class Runs {
  readonly #parts: RecordFactsParts & RunsParts;

  constructor(parts: RunsParts) {
    this.#parts = { ...parts, stopRun: (running, reason) => this.stop(running, reason) };
    parts.claims.onChange(({ by }) => {
      if (by === 'begun') parts.totals.runs += 1;
    });
  }

  /**
   * Starts a run. The caller has just checked, with no await in between, that the issue is free and that a slot is
   * free.
   */
  start({ issue, workflow, role, retry }: RunStart): void {
    const { accounts, clock, chance, judges, phases, trackerFor, own } = this.#parts;
    const work = role === 'judge' ? null : phases.workOf(issue);
    const judged = role === 'judge' ? judges.wanted(issue.id) : null;
    const chosen = retry?.agent ?? null;
    const wish = { ...judges.wishFor(issue, retry?.failures ?? 0), chosen: isJudge(role) ? null : chosen };
    const agent = agentOf(accounts, workflow.settings, wish);
    // The caller has just asked why no agent may start.
    const { name, because, settings } =
      'unknown' in agent ? { name: defaultAgent, because: 'default' as const, settings: workflow.settings } : agent;
    const movedTo = isTaskRole(role) ? issue.state : stateOnceStarted(issue, trackerFor(workflow.settings).startMove);
    const running: Running = {
      ...newRunState(
        {
          runId: chance.id(),
          role,
          judged,
          phase: work?.role === 'phase' || work?.role === 'phase_judge' ? work.phase : null,
          judgedClaim: work?.role === 'phase_judge' ? work.claimId : null,
          plannedAs: role === 'judge' ? null : (phases.plans.workOf(issue) ?? null),
          attempt: retry?.attempt ?? null,
          retryKind: retry?.kind ?? null,
          recovery: retry?.recovery ?? null,
          workflow: settings === workflow.settings ? workflow : { ...workflow, settings },
          agent: name,
          agentReason: because,
          chosenAgent: chosen,
        },
        clock,
      ),
      status: 'running',
      generation: null,
      issue,
      movesTo: movedTo === issue.state ? null : movedTo,
      before: null,
      holdAfterwards: null,
    };
    own('run', this.#run(running, work?.phase ?? null));
  }

  /** Asks a run to end, once. It keeps its slot until nothing of it is left. */
  stop(running: Running, reason: StopReason): void {
    if (running.stopRequested !== null) return;
    running.stopRequested = reason;
    const { id, identifier } = running.issue;
    const named = { issue_id: id, issue_identifier: identifier, run_id: running.runId };
    this.#parts.logger.info('run_stopping', { ...named, reason });
    running.stopped.abort();
    running.live?.stop(reason);
  }

  /** Sends a message to the agent of a run, as `LiveRun.steer`. */
  async steer({ live }: Running, text: string): Promise<'delivered' | 'queued'> {
    if (live !== null) return live.steer(text);
    throw new BatonError('command_refused', 'The run is still starting. Send the message again in a moment.', {
      details: { problem: 'run_beginning' },
    });
  }

  /** `inPhase`: the phase that its issue must be in, also for a worker; null without a pipeline. */
  async #run(running: Running, inPhase: string | null): Promise<void> {
    const { claims, clock, journal, logger } = this.#parts;
    const { issue, runId, attempt } = running;
    logger.debug('run_recorded', { issue_id: issue.id, run_id: runId, attempt });
    const askedAt = clock.monotonic();
    const begun = await claims.begin(running, this.#startRequest(running, inPhase));
    if (!begun.isBegun) return this.#notBegun(running, begun);
    journal.runStarts(runId, begun.generation);
    running.account = accountOf(running, begun);
    running.attempt = begun.attempt;
    running.recovery = begun.recovery;
    running.retryKind = begun.retryKind;
    running.revisions = begun.record?.revisions ?? 0;
    running.phaseNow = begun.record?.phase ?? running.phase;
    running.completion = begun.completion;
    const outcome = await this.#work(running, begun, askedAt);
    running.over.resolve();
    await settleRun(this.#parts, running, outcome);
  }

  #startRequest(running: Running, inPhase: string | null): StartRequest {
    const { accounts, clock } = this.#parts;
    const { issue, runId, role, phase, attempt, retryKind, recovery, workflow, agent, agentReason, chosenAgent } =
      running;
    const { settings } = workflow;
    return {
      record: {
        runId,
        issueId: issue.id,
        identifier: issue.identifier,
        role,
        phase,
        attempt,
        retryKind,
        recovery,
        backend: settings.agent.backend,
        agent,
        agentReason,
        chosenAgent,
        prompt: workflow.promptOf({ issueId: issue.id, role, phase }),
        startedAt: clock.now(),
      },
      whyNoAccount: (tables) => accounts.whyNoneIn(tables, settings.agent),
      takeAccount: async (tables, last) =>
        (await accounts.take(tables, settings.agent, { preferred: last?.account ?? null, runId })).name,
      slot: { state: running.movesTo ?? issue.state, role },
      judged: running.judged,
      phase: inPhase,
      judgedClaim: running.judgedClaim,
      planned: role === 'judge' ? null : { issue, work: running.plannedAs },
      settings,
    };
  }

  /** The store refused the start: the run did not begin, and the issue is what it was before. */
  #notBegun(running: Running, { refusal }: RefusedRun): void {
    const { accounts, skipped, stopping, own, notify } = this.#parts;
    const { issue, runId } = running;
    running.over.resolve();
    own('account', accounts.probeEnded(runId));
    skipped.set(issue.id, { issue, reason: refusal });
    if (refusal.code === 'claimed_elsewhere' && !stopping.aborted) this.#parts.inherit(issue.id);
    notify();
  }

  /** From the written start to the outcome; never rejects. */
  async #work(running: Running, begun: BegunRun, askedAt: number): Promise<RunOutcome> {
    const { runner, isClaimSafe } = this.#parts;
    const stoppedBefore = this.#stopped(running);
    if (stoppedBefore !== null) return stoppedBefore;
    let issue: Issue;
    let judged: JudgeBrief | null;
    let phase: PhaseBrief | null;
    let task: TaskBrief | null;
    let parts: readonly PartOfIssue[];
    let learnings: readonly Learning[];
    try {
      issue = await this.#beginWork(running);
      const at = { commit: running.judged?.commit ?? '', settings: running.workflow.settings };
      judged = begun.pull === null ? null : await briefFor(this.#parts, begun.pull, at);
      const isOutside = running.role === 'judge' || running.role === 'planner' || running.plannedAs === 'parent';
      phase = isOutside ? null : await briefForPhase(this.#parts, running);
      parts = running.plannedAs === 'parent' ? await partsOfIssue(this.#parts, issue.id) : [];
      task = await briefForTask(this.#parts, running);
      learnings = await offerLearnings(this.#parts, running);
    } catch (thrown) {
      // An error after a stop is caused by the stop: it is not a failure of the run.
      return this.#stopped(running) ?? notAllowed(toBatonError(thrown, 'tracker_request'));
    }
    const stopped = this.#stopped(running);
    if (stopped !== null) return stopped;
    // A daemon that was frozen, or waited too long for the store, may have lost the issue to another one.
    const isStillOurs = (): boolean => isClaimSafe(askedAt);
    if (!isStillOurs()) return stopOutcome('claim_lost', 0);
    try {
      const request = this.#request(running, begun, judged, phase);
      running.live = runner.start({ ...request, parts, learnings, task, issue, isStillOurs });
    } catch (thrown) {
      return { end: 'failed', turns: 0, error: toBatonError(thrown) };
    }
    return running.live.outcome.catch(withoutOutcome);
  }

  #stopped({ stopRequested }: RunState): RunOutcome | null {
    const reason = stopRequested ?? (this.#parts.stopping.aborted ? 'shutdown' : null);
    return reason === null ? null : stopOutcome(reason, 0);
  }

  /** Moves the issue if that is Baton's task: on the board from todo to in_progress. */
  async #beginWork(running: Running): Promise<Issue> {
    const { logger, trackerFor, claims, stopping } = this.#parts;
    const { issue, runId, attempt, role, phase, workflow, stopped } = running;
    const named = { issue_id: issue.id, issue_identifier: issue.identifier, run_id: runId };
    logger.info('run_started', { ...named, attempt, role, phase });
    const { changes, startMove } = trackerFor(workflow.settings);
    if (changes === null || startMove === undefined || isTaskRole(role)) return issue;
    if (normalizeState(issue.state) !== normalizeState(startMove.from)) return issue;
    const ask = {
      signal: AbortSignal.any([stopping, stopped.signal]),
      caller: { job: 'dispatch', cause: 'agent' },
    } as const;
    const moved = await changes.moveIssue(issue.id, startMove.to, { kind: 'orchestrator' }, ask);
    claims.movedAtStart(running, moved);
    return moved;
  }

  /** Whether the parts of its issue may be split again. */
  #mayNest({ issue, workflow }: Running): boolean {
    const depth = this.#parts.phases.plans.factsOf(issue.id)?.partOf?.depth ?? 0;
    return depth + 1 < workflow.settings.planner.maxDepth;
  }

  /** The request for the runner, without the issue as it is now. */
  #request(
    running: Running,
    begun: BegunRun,
    judged: JudgeBrief | null,
    phase: PhaseBrief | null,
  ): Omit<RunRequest, 'issue' | 'isStillOurs' | 'learnings' | 'parts' | 'task'> {
    const { questions, clock, phases, reads } = this.#parts;
    const { runId, role, workflow, attempt, retryKind, recovery, issue } = running;
    const { backend } = workflow.settings.agent;
    const { earlier, answers, answersBefore, messages, commentsSince, reviewed, into } = begun;
    const { id, identifier, url } = issue;
    // A run that died before its first turn has nothing to report.
    const last = earlier.find(({ turns }) => turns > 0) ?? earlier[0] ?? null;
    questions.beginRun(runId, answers);
    const hasWords = messages.length > 0 || (role === 'phase' && (phase?.reasons.length ?? 0) > 0);
    return {
      phase,
      runId,
      role,
      workflow,
      attempt,
      retryKind,
      recovery,
      complete: (completion) => completePhase(this.#parts, running, completion),
      planner: role === 'planner' ? { mayNest: this.#mayNest(running) } : null,
      plan: (draft, signal) => makePlan({ ...this.#parts, plans: phases.plans }, running, draft, signal),
      messages,
      commentsSince,
      reviewed,
      into,
      ask: (question, signal) => {
        const asked = questions.ask({ issue: { id, identifier, url }, runId }, question, signal);
        return waitingForPerson(running, clock, asked);
      },
      // A judge that was cut short may have said its verdict, which is lost: it judges again, from the beginning.
      threadId: isJudge(role) ? null : threadToResume({ retryKind, recovery, backend, hasWords }, earlier),
      account: accountOf(running, begun),
      answers: answeredQuestions(answers),
      // An approval was for the run that asked; an answer in words is for the issue.
      answersBefore: answeredQuestions(answersBefore.filter(({ question }) => question.kind === 'input')),
      earlier: last === null ? null : earlierWork(last),
      readIssue: (signal) => reads.afterTurn(id, { job: 'run', cause: 'turn' }, signal),
      judged,
      report: recordFacts(this.#parts, running, begun),
    };
  }
}

function answeredQuestions(questions: readonly StoredQuestion[]): AnsweredQuestion[] {
  return questions.flatMap(({ question, given }) => (given === null ? [] : [{ question, answer: given.answer }]));
}

function earlierWork({ finish, turns, lastMessage, evidence }: RunRecord): EarlierWork {
  return { endedBecause: finish?.errorMessage ?? null, turns, lastMessage, evidence };
}

/** The account from the settings of the run; if it was renamed meanwhile, the first account of the backend. */
function accountOf({ workflow }: Running, { account }: BegunRun): AccountSettings {
  const { accounts, backend } = workflow.settings.agent;
  const ofBackend = accounts.filter((each) => each.backend === backend);
  const named = ofBackend.find(({ name }) => name === account) ?? ofBackend[0];
  return named ?? { name: backend, backend, env: {}, home: null };
}

/** The runner rejected instead of returning an outcome: its agent may be alive. */
function withoutOutcome(thrown: unknown): RunOutcome {
  const error = new BatonError('agent_survives', 'The run ended without an outcome, so its agent may still be alive.', {
    cause: thrown,
  });
  return { end: 'failed', turns: 0, error };
}

/**
 * If the board refuses the move, another user decided so and the issue is released. Any other error is a failure and
 * waits.
 */
function notAllowed(error: BatonError): RunOutcome {
  if (error.code !== 'board_move_refused') return { end: 'failed', turns: 0, error };
  const refusal = new BatonError('run_cancelled', `The run did not begin: ${error.message}`, { cause: error });
  return { end: 'canceled_by_reconciliation', turns: 0, error: refusal };
}
