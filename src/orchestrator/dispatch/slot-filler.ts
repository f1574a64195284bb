import { isDeepStrictEqual } from 'node:util';
import { toBatonError } from '../../core/baton-error.ts';
import { type DispatchDecision, planDispatch } from '../../core/dispatch/dispatch-plan.ts';
import { isAboutSlots, type SkipReason } from '../../core/dispatch/eligibility.ts';
import type { Issue } from '../../core/issue/issue.ts';
import type { WorkflowReading } from '../../core/workflow.ts';
import type { BaseParts } from '../parts.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import type { RunStart } from '../runs/runs.ts';
import { type DispatchGates, decisionKey, dispatchGates, type GateParts, type OtherClaim } from './gates.ts';
import type { Retries } from './retry.ts';
import type { SkippedIssues } from './skipped.ts';

export interface SlotFillerParts extends GateParts, Pick<BaseParts, 'logger' | 'own' | 'stopping'> {
  readonly reads: TrackerReads;
  readonly retries: Retries;
  readonly skipped: SkippedIssues;
  readonly startRun: (start: RunStart) => void;
}

/**
 * How many issues one read covers: those that start now and the next ones, so that the next freed slots need no read.
 */
const readTogether = 50;

/**
 * Fills free slots, in order, from the known candidates: at once after a poll, after a run's end and after a command,
 * without waiting for the next poll. Retries that wait for a slot come first (seed 4). An issue that was not just read
 * is read again by id before it starts. One pass runs at a time; a request meanwhile causes another pass. While nothing
 * changed that a decision depends on, none is made.
 */
export class SlotFiller {
  readonly #parts: SlotFillerParts;
  #working = false;
  #wanted = false;
  /** The key of the last decision; null when there was none, or it could not be carried out. */
  #decidedOn: string | null = null;

  constructor(parts: SlotFillerParts) {
    this.#parts = parts;
  }

  fill(): void {
    this.#wanted = true;
    if (this.#working) return;
    this.#working = true;
    this.#parts.own(
      'dispatch',
      this.#work().finally(() => {
        this.#working = false;
        // A request came after the last check of `#wanted`.
        if (this.#wanted && !this.#parts.stopping.aborted) this.fill();
      }),
    );
  }

  async #work(): Promise<void> {
    const { stopping, headroom, retries } = this.#parts;
    while (this.#wanted && !stopping.aborted) {
      this.#wanted = false;
      await headroom.refresh();
      await retries.serveWaiting();
      this.#reportToPool(await this.#startCandidates());
    }
  }

  /** Returns false when the tracker could not be read: then the project cannot use a slot now. */
  async #startCandidates(): Promise<boolean> {
    const key = this.#key();
    if (key === this.#decidedOn) return true;
    const isAble = await startCandidates(this.#parts);
    // A start that fails later leaves everything unchanged. So a decision that started a run is never reused.
    this.#decidedOn = isAble && this.#key() === key ? key : null;
    return isAble;
  }

  #key(): string {
    const reading = this.#parts.source.read();
    return decisionKey(dispatchGates(this.#parts, reading), this.#parts, reading);
  }

  /** Reports to the pool whether a candidate or a retry of this project waits for a shared slot. */
  #reportToPool(isAble: boolean): void {
    const { skipped, claims, pool } = this.#parts;
    const reasons = [
      ...[...skipped.values()].map(({ reason }) => reason),
      ...[...claims.retrying.values()].map(({ wait }) => wait),
    ];
    pool?.setWaiting(isAble && reasons.some((reason) => reason?.code === 'global_full'));
  }
}

async function startCandidates(parts: SlotFillerParts): Promise<boolean> {
  const { candidates, judges, phases, source, reads, stopping, logger, skipped } = parts;
  const asked = new Set<string>();
  // An issue that was read in this call counts as just read until the end, however short the freshness: no endless
  // loop.
  const { freshnessMs } = source.read().workflow.settings.polling;
  const justRead = (id: string): Issue | null | undefined =>
    asked.has(id) ? reads.lastRead(id) : reads.freshWithin(id, freshnessMs);
  await phases.know(candidates.withReviews?.map(({ id }) => id) ?? []);
  // Each round reads the issues that the previous round found stale.
  while (!stopping.aborted) {
    candidates.update(justRead, isDeepStrictEqual);
    if (candidates.withReviews === null) break;
    const reading = source.read();
    const plan = decide(parts, reading, judges.candidates(candidates.withReviews), dispatchGates(parts, reading));
    const stale = plan.filter(({ reason, issue }) => reason === null && justRead(issue.id) === undefined);
    if (stale.length === 0) {
      carryOut(parts, plan);
      return true;
    }
    try {
      for (const id of await readAgain(parts, plan, stale)) asked.add(id);
    } catch (thrown) {
      const error = toBatonError(thrown);
      if (!stopping.aborted) logger.warn('candidates_unreadable', { error });
      const reason = { code: 'not_read', text: `it could not be read again: ${error.message}` } as const;
      for (const { issue } of stale) skipped.set(issue.id, { issue, reason });
      return false;
    }
  }
  return true;
}

/** There is no await between the decision and this call, so nothing can change before the starts. */
function carryOut(
  { judges, source, pool, skipped, startRun }: SlotFillerParts,
  plan: readonly DispatchDecision[],
): void {
  const { workflow } = source.read();
  const { extraSlotsPercent } = workflow.settings.judge;
  skipped.clear();
  for (const { issue, reason } of plan) {
    const role = judges.roleOf(issue);
    // Other projects of this daemon take slots too, so the pool is asked for each start.
    const refusal = reason ?? pool?.mayStart(role, extraSlotsPercent) ?? null;
    if (refusal === null) startRun({ issue, workflow, role, retry: null });
    // A claimed issue is shown with its run, its retry or its hold.
    else if (refusal.code !== 'claimed') skipped.set(issue.id, { issue, reason: refusal });
  }
}

/** Reads the issues again that would start now or next. Those that are gone, or cannot start any more, drop out. */
async function readAgain(
  { reads }: SlotFillerParts,
  plan: readonly DispatchDecision[],
  stale: readonly DispatchDecision[],
): Promise<readonly string[]> {
  const next = plan
    .filter(({ reason }) => reason !== null && isAboutSlots(reason))
    .slice(0, Math.max(0, readTogether - stale.length));
  const ids = [...stale, ...next].map(({ issue }) => issue.id);
  await reads.byIds(ids, { job: 'dispatch', cause: 'revalidation' });
  return ids;
}

/** Which candidates would start now and which not; starts nothing. */
export async function previewDispatch(
  parts: GateParts & Pick<SlotFillerParts, 'reads'>,
  otherClaims: readonly OtherClaim[],
): Promise<DispatchDecision[]> {
  const reading = { ...parts.source.read(), problem: null };
  const { activeStates } = reading.workflow.settings.tracker;
  const issues = await parts.reads.byStates(activeStates, { job: 'dry_run', cause: 'person' });
  await parts.phases.know(issues.map(({ id }) => id));
  return decide(parts, reading, issues, dispatchGates(parts, reading, otherClaims), otherClaims);
}

/** Why this issue would not start now if it were the only candidate; null: it would. */
export function whyNotStarted(parts: GateParts, issue: Issue): SkipReason | null {
  const reading = parts.source.read();
  return decide(parts, reading, [issue], dispatchGates(parts, reading))[0]?.reason ?? null;
}

function decide(
  { claims, judges, trackerFor }: GateParts,
  { workflow }: WorkflowReading,
  issues: readonly Issue[],
  outside: DispatchGates,
  otherClaims: readonly OtherClaim[] = [],
): DispatchDecision[] {
  const { settings } = workflow;
  return planDispatch({
    issues,
    settings,
    roleOf: judges.roleOf,
    areWorkersWaiting: claims.areWorkersWaiting(),
    taken: [...claims.takenSlots(), ...otherClaims.flatMap(({ slot }) => slot ?? [])],
    startMove: trackerFor(settings).startMove,
    outside,
  });
}
