import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import { type SkipReason, whyNotCandidate, whyNotRoutable } from '../../core/dispatch/eligibility.ts';
import { stateOnceStarted, whyNoSlot } from '../../core/dispatch/slots.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { failureDelayMs } from '../../core/run/backoff.ts';
import type { AgentWish } from '../../core/run/choose-agent.ts';
import type { Retrying } from '../claims/claim.ts';
import type { Delay } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { Candidates } from '../poll/candidates.ts';
import { type PaceParts, pollIntervalMs } from '../poll/pace.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import type { HandDeliveries } from '../review/deliver-by-hand.ts';
import type { RunStart } from '../runs/runs.ts';
import { whyNoAgentAtAll } from './agent-of.ts';
import type { PoolMember } from './slot-pool.ts';
import { type StartParts, whyNothingStarts } from './why-nothing-starts.ts';

export interface RetriesParts extends StartParts, PaceParts, Pick<BaseParts, 'clock' | 'logger' | 'stopping'> {
  readonly candidates: Candidates;
  readonly reads: TrackerReads;
  readonly pool: PoolMember | null;
  readonly handDeliveries: HandDeliveries;
  readonly isCleaning: (issueId: string) => boolean;
  readonly startRun: (start: RunStart) => void;
  /** Brings the change of an issue into review; returns the issue afterwards, null when it is gone. */
  readonly deliver: (retrying: Retrying) => Promise<Issue | null>;
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
    const refusal = fresh === null ? isGone : whyNotRoutable(fresh, source.read().workflow.settings.tracker);
    if (refusal !== null) await this.#alone(current, () => this.#leave(current, fresh, refusal.text));
  }

  /**
   * An issue whose retry was due and found no slot, or a pause, gets a free slot first, the longest waiting first (seed
   * 4: retries before new dispatch). While this project has no free slot nothing is read; retries that may start share
   * one read.
   */
  async serveWaiting(): Promise<void> {
    const { claims, source, reads, stopping } = this.#parts;
    const { maxConcurrentAgents } = source.read().workflow.settings.agent;
    const free = maxConcurrentAgents - claims.takenSlots().length;
    if (free <= 0) return;
    const waiting = [...claims.retrying.values()]
      .filter(({ slotWaits, wait }) => slotWaits > 0 || (wait !== null && endsForAll(wait)))
      .filter(({ wait }) => wait?.code !== 'tracker_backoff' || !reads.backoff.isBackingOff())
      .toSorted((left, right) => right.slotWaits - left.slotWaits || left.dueAt - right.dueAt);
    await Promise.all(
      waiting.slice(0, free + triedBeyond).map(async (retrying) => {
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
    const { claims, source, reads, headroom, stopping, isCleaning, startRun } = this.#parts;
    if (retrying.kind === 'review') return this.#deliver(retrying);
    const { id } = retrying.issue;
    const isCurrent = (): boolean => claims.get(id) === retrying && !claims.isChanging(id) && !stopping.aborted;
    const postpone = (delay: Delay): void => claims.postpone(retrying, { slotWaits: retrying.slotWaits, ...delay });
    await headroom.refresh();
    if (!isCurrent()) return;
    const { problem } = source.read();
    const lastRead = reads.lastRead(id) ?? null;
    const stopped = whyNothingStarts(this.#parts, retrying.issue, wishOf(retrying, lastRead));
    // An issue outside the trial may have finished: this retry checks once, later the polls do.
    const isFirstOfTrial = stopped?.code === 'not_chosen' && retrying.wait?.code !== 'not_chosen';
    if (stopped !== null && !isFirstOfTrial) return postpone({ why: stopped, delayMs: stoppedAgainMs });
    if (problem !== null) {
      const why = { code: 'workflow_problem', text: `the workflow file cannot be used: ${problem.code}` } as const;
      return postpone({ why, delayMs: stoppedAgainMs });
    }
    // Without a slot the tracker need not be asked: a freed slot wakes the retry, and the timer is only a fallback.
    const fullBefore = this.#whyFull(lastRead);
    if (fullBefore !== null) return postpone(this.#slotWait(retrying, fullBefore));
    let fresh: Issue | null;
    try {
      fresh = (await reads.byIds([id], { job: 'retry', cause: 'retry' })).get(id) ?? null;
    } catch (thrown) {
      return isCurrent() ? postpone(this.#trackerWait(retrying, toBatonError(thrown))) : undefined;
    }
    if (!isCurrent()) return;

    // The read may have taken long, so the decision uses the current settings.
    const { workflow } = source.read();
    const refusal = fresh === null ? isGone : whyNotCandidate(fresh, workflow.settings.tracker);
    if (fresh === null || refusal !== null) return this.#leave(retrying, fresh, refusal?.text ?? '');
    // The reasons to start nothing may have changed during the read.
    const stoppedNow = whyNothingStarts(this.#parts, retrying.issue, wishOf(retrying, fresh));
    if (stoppedNow !== null) return postpone({ why: stoppedNow, delayMs: stoppedAgainMs });
    if (isCleaning(id)) {
      const why = { code: 'cleaning', text: 'its previous workspace is being removed' } as const;
      return postpone({ why, delayMs: againMs });
    }
    const full = this.#whyFull(fresh);
    if (full !== null) return postpone(this.#slotWait(retrying, full));
    startRun({ issue: fresh, workflow, retry: retrying });
  }

  /** Needs no slot and no agent. It also happens while nothing may start: the work is done. */
  async #deliver(retrying: Retrying): Promise<void> {
    const { claims, deliver, logger, source, stopping } = this.#parts;
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
      const failedReads = retrying.failedReads + 1;
      const delayMs = failureDelayMs(failedReads, source.read().workflow.settings.agent.maxRetryBackoffMs, 0);
      const why = {
        code: 'not_delivered',
        text: `its change could not be brought into review: ${error.message} ${error.nextStep}`,
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
    const why = { code, text: `retry refresh failed: ${error.message}` } as const;
    return { why, delayMs, failedReads: failedReads + 1 };
  }

  /** Why there is no slot. If the state of the issue is unknown, only limits that hold for every state count. */
  #whyFull(issue: Issue | null): SkipReason | null {
    const { claims, source, pool, trackerFor } = this.#parts;
    const { settings } = source.read().workflow;
    const taken = claims.takenSlots();
    const slot =
      issue === null
        ? whyNoSlot('', taken, { ...settings.agent, maxConcurrentAgentsByState: {} })
        : whyNoSlot(stateOnceStarted(issue, trackerFor(settings).startMove), taken, settings.agent);
    return slot ?? pool?.mayStart() ?? null;
  }

  #slotWait({ slotWaits }: Retrying, why: SkipReason): Delay {
    const delayMs = Math.max(pollIntervalMs(this.#parts), againMs);
    return { why, slotWaits: slotWaits + 1, delayMs };
  }

  /** The issue is not to be worked on any more. One that a person moved to review has its change there first. */
  async #leave(retrying: Retrying, fresh: Issue | null, reason: string): Promise<void> {
    const how = fresh === null ? 'nothing' : await this.#parts.handDeliveries.try(retrying, fresh);
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
    candidates.countReview(id, fresh.state);
    onReleased(fresh);
  }
}

function wishOf({ agent, failures }: Retrying, issue: Issue | null): AgentWish | null {
  return issue && { issue, chosen: agent, failures };
}

const isGone = { text: 'the tracker does not have it any more' };

/** Reasons that end for all issues at once; then the waiting retries are served without their timers. */
function endsForAll({ code }: SkipReason): boolean {
  return [
    'paused',
    'day_limit',
    'no_headroom',
    'environment',
    'no_requests',
    'waiting_quota',
    'workflow_problem',
    'tracker_backoff',
  ].includes(code);
}
