import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import { retriesInOrder } from '../../core/dispatch/dispatch-order.ts';
import {
  isAboutSlots,
  type SkipReason,
  stateClass,
  whyNotCandidate,
  whyNotRoutable,
} from '../../core/dispatch/eligibility.ts';
import { slotsForJudges, stateOnceStarted, whyNoSlot } from '../../core/dispatch/slots.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { failureDelayMs } from '../../core/run/backoff.ts';
import type { AgentWish } from '../../core/run/choose-agent.ts';
import { isJudge, type Role, roleOf } from '../../core/run/role.ts';
import { taskRoleOf } from '../../core/task/task.ts';
import type { Retrying } from '../claims/claim.ts';
import type { Delay } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { Phases } from '../pipeline/phases.ts';
import type { Candidates } from '../poll/candidates.ts';
import { type PaceParts, pollIntervalMs } from '../poll/pace.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import type { HandDeliveries } from '../review/deliver-by-hand.ts';
import type { Judges } from '../review/judges.ts';
import type { RunStart } from '../runs/runs.ts';
import { whyNoAgentAtAll } from './agent-of.ts';
import type { SkippedIssues } from './skipped.ts';
import type { PoolMember } from './slot-pool.ts';
import { type StartParts, whyNothingStarts } from './why-nothing-starts.ts';

export interface RetriesParts extends StartParts, PaceParts, Pick<BaseParts, 'clock' | 'logger' | 'stopping'> {
  readonly candidates: Candidates;
  readonly reads: TrackerReads;
  readonly pool: PoolMember | null;
  readonly handDeliveries: HandDeliveries;
  readonly judges: Judges;
  readonly phases: Phases;
  readonly skipped: SkippedIssues;
  readonly isCleaning: (issueId: string) => boolean;
  readonly startRun: (start: RunStart) => void;
  /** Brings the change of an issue into review; returns the issue afterwards, null when it is gone. */
  readonly deliver: (retrying: Retrying) => Promise<Issue | null>;
  /** Writes the rest of the stored plan of an issue to the tracker. */
  readonly finishPlan: (retrying: Retrying) => Promise<void>;
  /** Called when the claim of this issue was released. */
  readonly onReleased: (issue: Issue) => void;
}

/** Delay before a retry that could not be carried through is tried again. */
const againMs = 1_000;
/**
 * The same while nothing may start. Whatever lets work start again also serves these retries, so this is only a
 * fallback.
 */
const stoppedAgainMs = 5_000;
/** This many more retries than free slots are tried: the first ones may be in states that are full. */
const triedBeyond = 20;

/**
 * Issues that are due for a retry: each is read and started, or released (seed 2, Retry Timer Fired; specification
 * 8.4). A tracker that does not answer, full slots, a pause and a bad workflow file only delay the retry: they raise
 * neither the attempt nor the failures, and the stored retry stays unchanged.
 */
export class Retries {
  readonly #parts: RetriesParts;
  readonly #trying = new Set<Retrying>();

  constructor(parts: RetriesParts) {
    this.#parts = parts;
  }

  /** Tries the issue now. Its timer and a freed slot may both call this. */
  async try(retrying: Retrying): Promise<void> {
    await this.#alone(retrying, () => this.#try(retrying));
  }

  /**
   * A poll found that no agent should work on the issue any more: its claim ends now, whenever its retry would be due.
   */
  async end(retrying: Retrying, fresh: Issue | null): Promise<void> {
    const { claims, source, stopping } = this.#parts;
    const current = claims.retrying.get(retrying.issue.id);
    // A retry that was only delayed meanwhile is still the same retry. One that is being tried finds out by itself.
    if (current?.dueAt !== retrying.dueAt || stopping.aborted) return;
    // Its change still has to be brought into review, or left alone, by the state of the issue.
    if (current.kind === 'review') return this.try(current);
    // So does the rest of its plan.
    await this.#parts.phases.know([current.issue.id]);
    if (this.#parts.phases.plans.isUnfinished(current.issue.id)) return this.try(current);
    const { tracker } = source.read().workflow.settings;
    const refusal = fresh === null ? isGone : whyNotRoutable(fresh, tracker, current.role);
    if (refusal !== null) await this.#alone(current, () => this.#leave(current, fresh, refusal.text));
  }

  /**
   * An issue whose retry was due and found no slot, or a pause, gets a free slot before new work, in the order of new work
   * (seed 4: retries before new dispatch). While this project has no free slot nothing is read; retries that may start
   * share one read.
   */
  async serveWaiting(): Promise<void> {
    const { claims, source, reads, stopping } = this.#parts;
    const { agent, judge } = source.read().workflow.settings;
    const { maxConcurrentAgents: limit } = agent;
    const free = limit + slotsForJudges(limit, judge.extraSlotsPercent) - claims.takenSlots().length;
    if (free <= 0) return;
    const waiting = [...claims.retrying.values()]
      .filter(({ slotWaits, wait }) => slotWaits > 0 || (wait !== null && endsForAll(wait)))
      .filter(({ wait }) => wait?.code !== 'tracker_backoff' || !reads.backoff.isBackingOff());
    const inOrder = retriesInOrder(
      waiting,
      ({ role }) => roleOf(role),
      ({ issue }) => reads.lastRead(issue.id) ?? null,
    );
    await Promise.all(
      inOrder.slice(0, free + triedBeyond).map(async (retrying) => {
        // Its own timer, or a command, may have come first.
        if (!stopping.aborted && claims.get(retrying.issue.id) === retrying) await this.try(retrying);
      }),
    );
  }

  /** An account may be ready early: retries that wait for one are tried now. Returns false when no account is ready. */
  accountReady(): boolean {
    const { claims, accounts, source } = this.#parts;
    if (whyNoAgentAtAll(accounts, source.read().workflow.settings, 0) !== null) return false;
    for (const retrying of [...claims.retrying.values()])
      if (retrying.kind === 'quota' && retrying.wait === null && !this.#trying.has(retrying))
        claims.postpone(retrying, { delayMs: 0 });
    return true;
  }

  /** Issues whose retry is due while a read made now is still fresh. */
  dueSoon(): string[] {
    const { claims, clock, source } = this.#parts;
    const soon = clock.now() + source.read().workflow.settings.polling.freshnessMs;
    return [...claims.retrying.values()].filter(({ dueAt }) => dueAt <= soon).map(({ issue }) => issue.id);
  }

  async #alone(retrying: Retrying, work: () => Promise<void>): Promise<void> {
    if (this.#trying.has(retrying)) return;
    this.#trying.add(retrying);
    try {
      await work();
    } finally {
      this.#trying.delete(retrying);
    }
  }

  async #try(retrying: Retrying): Promise<void> {
    const { claims, reads, headroom, stopping } = this.#parts;
    if (retrying.kind === 'review') return this.#deliver(retrying);
    const { id } = retrying.issue;
    const isCurrent = (): boolean => claims.get(id) === retrying && !claims.isChanging(id) && !stopping.aborted;
    const postpone = (delay: Delay): void => claims.postpone(retrying, { slotWaits: retrying.slotWaits, ...delay });
    await headroom.refresh();
    const unread = await this.#whyPhaseUnread(id);
    if (!isCurrent()) return;
    if (unread !== null) return postpone({ why: unread, delayMs: stoppedAgainMs });
    if (this.#parts.phases.plans.isUnfinished(id)) return this.#finishPlan(retrying);
    const lastRead = reads.lastRead(id) ?? null;
    const waits = retrying.role === 'judge' ? null : this.#parts.phases.whyNot(lastRead ?? { id, labels: [] });
    if (waits !== null) return postpone({ why: waits, delayMs: stoppedAgainMs });
    const stopped = whyNothingStarts(
      this.#parts,
      retrying.issue,
      this.#roleOf(retrying, lastRead),
      this.#wishOf(retrying, lastRead),
    );
    // An issue outside the trial may have finished: this retry checks once, later the polls do.
    const isFirstOfTrial = stopped?.code === 'not_chosen' && retrying.wait?.code !== 'not_chosen';
    const obstacle = (isFirstOfTrial ? null : stopped) ?? this.#whyUnusable();
    if (obstacle !== null) return postpone({ why: obstacle, delayMs: stoppedAgainMs });
    // Without a slot the tracker need not be asked: a freed slot wakes the retry, and the timer is only a fallback.
    const fullBefore = this.#whyFull(lastRead, this.#roleOf(retrying, lastRead));
    if (fullBefore !== null) return postpone(this.#slotWait(retrying, fullBefore));
    let fresh: Issue | null;
    try {
      fresh = (await reads.byIds([id], { job: 'retry', cause: 'retry' })).get(id) ?? null;
    } catch (thrown) {
      return isCurrent() ? postpone(this.#trackerWait(retrying, toBatonError(thrown))) : undefined;
    }
    if (isCurrent()) await this.#startOrLeave(retrying, fresh, postpone);
  }

  /** The issue was just read. The read may have taken long, so the decision uses the current settings. */
  async #startOrLeave(retrying: Retrying, fresh: Issue | null, postpone: (delay: Delay) => void): Promise<void> {
    const { source, startRun } = this.#parts;
    const { workflow } = source.read();
    const role = this.#roleOf(retrying, fresh);
    // A new daemon would take it for a change that needs no judge, and forget the failures of its judge.
    if (role === 'judge' && !this.#parts.judges.areKnown) return postpone({ why: changesUnread, delayMs: againMs });
    const refusal = fresh === null ? isGone : this.#whyNotCandidate(fresh, role);
    if (fresh === null || refusal !== null) return this.#leave(retrying, fresh, refusal?.text ?? '');
    // The reasons to start nothing may have changed during the read.
    const stoppedNow = whyNothingStarts(this.#parts, retrying.issue, role, this.#wishOf(retrying, fresh));
    if (stoppedNow !== null) return postpone({ why: stoppedNow, delayMs: stoppedAgainMs });
    const soon = this.#whyNotYet(fresh, role);
    if (soon !== null) return postpone({ why: soon, delayMs: againMs });
    const full = this.#whyFull(fresh, role);
    if (full !== null) return postpone(this.#slotWait(retrying, full));
    startRun({ issue: fresh, workflow, role, retry: retrying });
  }

  #whyUnusable(): SkipReason | null {
    const { problem } = this.#parts.source.read();
    if (problem === null) return null;
    return { code: 'workflow_problem', text: `the workflow file cannot be used: ${problem.code}` };
  }

  async #whyPhaseUnread(issueId: string): Promise<SkipReason | null> {
    try {
      await this.#parts.phases.know([issueId]);
      return null;
    } catch (thrown) {
      return { code: 'not_read', text: `its phase could not be read: ${toBatonError(thrown).message}` };
    }
  }

  /** What is over in a moment. */
  #whyNotYet(issue: Issue, role: Role): SkipReason | null {
    const { phases, isCleaning } = this.#parts;
    if (isCleaning(issue.id)) return { code: 'cleaning', text: 'its previous workspace is being removed' };
    return role === 'judge' ? null : phases.whyNot(issue);
  }

  /** Needs no slot and no agent. It also happens while nothing may start: the work is done. */
  async #deliver(retrying: Retrying): Promise<void> {
    const { claims, clock, deliver, logger, source, stopping } = this.#parts;
    const { id, identifier } = retrying.issue;
    const isCurrent = (): boolean => claims.get(id) === retrying && !claims.isChanging(id) && !stopping.aborted;
    try {
      const issue = await deliver(retrying);
      const { reviewStates } = source.read().workflow.settings.tracker;
      const isInReview = issue !== null && isInOneOf(reviewStates)(issue);
      const reason = isInReview ? 'its change is in review' : 'a person moved the issue, or decided about its change';
      if (isCurrent()) await this.#release(retrying, issue, reason);
    } catch (thrown) {
      if (!isCurrent()) return;
      const error = toBatonError(thrown);
      logger.warn('change_not_delivered', { issue_id: id, issue_identifier: identifier, error });
      if (error.code === 'change_not_published') {
        const hold = { code: error.code, reason: `${error.message} ${error.nextStep}`, runId: null };
        return void (await claims.hold({ issue: { id, identifier }, since: clock.now(), ...hold }));
      }
      const failedReads = retrying.failedReads + 1;
      const delayMs = failureDelayMs(failedReads, source.read().workflow.settings.agent.maxRetryBackoffMs, 0);
      const why = {
        code: 'not_delivered',
        text: `its change could not be brought into review: ${error.message} ${error.nextStep}`,
      } as const;
      claims.postpone(retrying, { why, delayMs, failedReads });
    }
  }

  /** The plan of its planner is stored, but not all of it is in the tracker. Needs no slot and no agent either. */
  async #finishPlan(retrying: Retrying): Promise<void> {
    const { claims, finishPlan, logger, reads, source, stopping } = this.#parts;
    const { id, identifier } = retrying.issue;
    const isCurrent = (): boolean => claims.get(id) === retrying && !claims.isChanging(id) && !stopping.aborted;
    try {
      const issue = (await reads.byIds([id], { job: 'planner', cause: 'retry' })).get(id) ?? null;
      const { tracker } = source.read().workflow.settings;
      // Not only one that could start: the part of the plan that is there already may block it, or have moved it.
      const isLeft = issue === null || stateClass(issue.state, tracker) === 'terminal';
      if (!isLeft) await finishPlan(retrying);
      const reason = isLeft ? 'a person moved the issue' : 'it waits for its parts';
      if (isCurrent()) await this.#release(retrying, issue, reason);
    } catch (thrown) {
      if (!isCurrent()) return;
      const error = toBatonError(thrown);
      logger.warn('plan_not_written', { issue_id: id, issue_identifier: identifier, error });
      const failedReads = retrying.failedReads + 1;
      const delayMs = failureDelayMs(failedReads, source.read().workflow.settings.agent.maxRetryBackoffMs, 0);
      const why = {
        code: 'plan_pending',
        text: `its parts could not be written to the tracker: ${error.message}`,
      } as const;
      claims.postpone(retrying, { why, delayMs, failedReads });
    }
  }

  /**
   * The issue could not be read. While a tracker rests, only the poll asks it; the first answer serves the waiting
   * retries. A bad record backs off by itself.
   */
  #trackerWait({ issue, failedReads }: Retrying, error: BatonError): Delay {
    const { reads, clock, source, logger } = this.#parts;
    logger.warn('retry_read_failed', { issue_id: issue.id, issue_identifier: issue.identifier, error });
    const { dormantIntervalMs } = source.read().workflow.settings.polling;
    const isBackingOff = reads.backoff.isBackingOff();
    const ownWaitMs = Math.min(againMs * 2 ** failedReads, dormantIntervalMs);
    const delayMs = Math.max(againMs, isBackingOff ? reads.backoff.until - clock.monotonic() : ownWaitMs);
    const code = isBackingOff ? 'tracker_backoff' : 'not_read';
    const why = { code, text: `it could not be read again for its retry: ${error.message}` } as const;
    return { why, delayMs, failedReads: failedReads + 1 };
  }

  /** Why there is no slot. If the state of the issue is unknown, only limits that hold for every state count. */
  #whyFull(issue: Issue | null, role: Role): SkipReason | null {
    const { claims, source, pool, trackerFor } = this.#parts;
    const { settings } = source.read().workflow;
    const { agent, judge } = settings;
    const limits = issue === null ? { agent: { ...agent, maxConcurrentAgentsByState: {} }, judge } : settings;
    const state = issue === null ? '' : stateOnceStarted(issue, trackerFor(settings).startMove);
    const slot = whyNoSlot({ state, role }, claims.takenSlots(), limits, () => this.#areWorkersWaiting());
    return slot ?? pool?.mayStart(role, judge.extraSlotsPercent) ?? null;
  }

  /** Also among the new work that the last decision left out. */
  #areWorkersWaiting(): boolean {
    const { claims, judges, skipped } = this.#parts;
    return (
      claims.areWorkersWaiting() ||
      [...skipped.values()].some(({ issue, reason }) => isAboutSlots(reason) && judges.roleOf(issue) === 'worker')
    );
  }

  #whyNotCandidate(issue: Issue, role: Role): SkipReason | null {
    const { judges, source } = this.#parts;
    const refusal = whyNotCandidate(issue, source.read().workflow.settings.tracker, role);
    if (refusal !== null || role !== 'judge' || judges.wanted(issue.id) !== null) return refusal;
    return { code: 'not_judged', text: 'its change no longer needs a judge' };
  }

  #wishOf(retrying: Retrying, issue: Issue | null): AgentWish | null {
    if (issue === null) return null;
    const { agent, failures } = retrying;
    const wish = this.#parts.judges.wishFor(issue, failures);
    return isJudge(this.#roleOf(retrying, issue)) ? wish : { ...wish, chosen: agent };
  }

  /** The issue may be in another phase than when the retry was written. */
  #roleOf({ role }: Retrying, issue: Issue | null): Role {
    return role === 'judge' || issue === null
      ? roleOf(role)
      : (taskRoleOf(issue.id) ?? this.#parts.phases.roleOf(issue));
  }

  #slotWait({ slotWaits }: Retrying, why: SkipReason): Delay {
    const delayMs = Math.max(pollIntervalMs(this.#parts), againMs);
    return { why, slotWaits: slotWaits + 1, delayMs };
  }

  /** The issue is not to be worked on any more. One that a person moved to review has its change there first. */
  async #leave(retrying: Retrying, fresh: Issue | null, reason: string): Promise<void> {
    const isWork = fresh !== null && retrying.role !== 'judge';
    const how = isWork ? await this.#parts.handDeliveries.try(retrying, fresh) : 'nothing';
    if (how === 'nothing') return this.#release(retrying, fresh, reason);
    const why = { code: 'not_delivered', text: 'its change could not be brought into review' } as const;
    if (how === 'failed') this.#parts.claims.postpone(retrying, { why, delayMs: stoppedAgainMs });
  }

  /** The issue has finished, or is not ours to work on: its claim ends. */
  async #release(retrying: Retrying, fresh: Issue | null, reason: string): Promise<void> {
    const { claims, candidates, logger, onReleased } = this.#parts;
    const { id, identifier } = retrying.issue;
    try {
      await claims.release(id, { byPerson: false, only: retrying });
    } catch (thrown) {
      const error = toBatonError(thrown);
      logger.error('claim_release_failed', { issue_id: id, error });
      const why = { code: 'not_recorded', text: `its claim could not be released: ${error.message}` } as const;
      return claims.postpone(retrying, { slotWaits: retrying.slotWaits, delayMs: againMs, why });
    }
    if (claims.has(id)) return;
    logger.info('claim_released', { issue_id: id, issue_identifier: identifier, reason });
    if (fresh === null) return;
    candidates.see(fresh);
    candidates.countReview(id, fresh.state);
    onReleased(fresh);
  }
}

const changesUnread: SkipReason = { code: 'not_read', text: 'its change is being read' };
const isGone = { text: 'the tracker does not have it any more' };

/** Reasons that end for all issues at once; then the waiting retries are served without their timers. */
function endsForAll({ code }: SkipReason): boolean {
  return [
    'paused',
    'day_limit',
    'role_budget',
    'no_headroom',
    'environment',
    'no_requests',
    'waiting_quota',
    'workflow_problem',
    'tracker_backoff',
  ].includes(code);
}
