import { isDeepStrictEqual } from 'node:util';
import { toBatonError } from '../../core/baton-error.ts';
import { type DispatchDecision, planDispatch } from '../../core/dispatch/dispatch-plan.ts';
import { isAboutSlots } from '../../core/dispatch/eligibility.ts';
import type { Issue } from '../../core/issue/issue.ts';
import type { WorkflowReading } from '../../core/workflow.ts';
import type { BaseParts } from '../parts.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import type { RunStart } from '../runs/runs.ts';
import { type ClaimBeside, type DispatchGates, decisionKey, dispatchGates, type GateParts } from './gates.ts';
import type { Retries } from './retry.ts';
import type { SkippedIssues } from './skipped.ts';

export interface SlotFillerParts extends GateParts, Pick<BaseParts, 'logger' | 'own' | 'stopping'> {
  readonly reads: TrackerReads;
  readonly retries: Retries;
  readonly skipped: SkippedIssues;
  readonly startRun: (start: RunStart) => void;
}

/** So many issues are read at once: those that start now, and the next, so that the next freed slots need no read. */
const readTogether = 50;

/**
 * Fills free slots, in order, from the candidates already known: at once after a poll, after a run's end and after a
 * command, never waiting for the next poll. Retries that wait for a slot come first (seed 4). An issue that was not just
 * read is read again by id before it starts. One pass at a time; asked again meanwhile, it makes another. While nothing
 * changed that a decision depends on, none is made.
 */
export class SlotFiller {
  readonly #parts: SlotFillerParts;
  #working = false;
  #wanted = false;
  /** What the last decision was made of; null when there was none, or it could not be carried out. */
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
        // Asked between the last look at `#wanted` and here.
        if (this.#wanted && !this.#parts.stopping.aborted) this.fill();
      }),
    );
  }

  async #work(): Promise<void> {
    const { stopping, room, retries } = this.#parts;
    while (this.#wanted && !stopping.aborted) {
      this.#wanted = false;
      await room.look();
      await retries.serveWaiting();
      this.#tellPool(await this.#startCandidates());
    }
  }

  /** False when the tracker did not let it: then it cannot use a slot now. */
  async #startCandidates(): Promise<boolean> {
    const key = this.#key();
    if (key === this.#decidedOn) return true;
    const isAble = await startCandidates(this.#parts);
    // A start that fails later leaves everything as it was: what started something is not taken for decided.
    this.#decidedOn = isAble && this.#key() === key ? key : null;
    return isAble;
  }

  #key(): string {
    const reading = this.#parts.source.read();
    return decisionKey(dispatchGates(this.#parts, reading), this.#parts, reading);
  }

  /** Whether this project wants a slot that the others have: of its candidates or of its retries. */
  #tellPool(isAble: boolean): void {
    const { skipped, claims, pool } = this.#parts;
    const reasons = [
      ...[...skipped.values()].map(({ reason }) => reason),
      ...[...claims.retrying.values()].map(({ wait }) => wait),
    ];
    pool?.setWaiting(isAble && reasons.some((reason) => reason?.code === 'no_slot_in_baton'));
  }
}

async function startCandidates(parts: SlotFillerParts): Promise<boolean> {
  const { candidates, source, reads, stopping, logger, skipped } = parts;
  const asked = new Set<string>();
  // What was asked for here counts as just read to the end, however short the freshness: nobody asks in circles.
  const { freshnessMs } = source.read().workflow.settings.polling;
  const justRead = (id: string): Issue | null | undefined =>
    asked.has(id) ? reads.lastRead(id) : reads.freshWithin(id, freshnessMs);
  // Each round reads what the round before found to be stale.
  while (!stopping.aborted) {
    candidates.update(justRead, isDeepStrictEqual);
    if (candidates.list === null) break;
    const reading = source.read();
    const plan = decide(parts, reading, candidates.list, dispatchGates(parts, reading));
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

/** No await from the decision to here: what was decided is started before anything else can change. */
function carryOut({ source, pool, skipped, startRun }: SlotFillerParts, plan: readonly DispatchDecision[]): void {
  const { workflow } = source.read();
  skipped.clear();
  for (const { issue, reason } of plan) {
    // Other projects of this Baton take slots too: each start is asked for by itself.
    const refusal = reason ?? pool?.mayStart() ?? null;
    if (refusal === null) startRun({ issue, workflow, retry: null });
    // What is claimed here is shown with its run, its retry or its hold.
    else if (refusal.code !== 'claimed') skipped.set(issue.id, { issue, reason: refusal });
  }
}

/** Reads again what would start now, and what would start next. What is gone, or cannot start any more, drops out. */
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

/** What would start now and what not, without starting anything. */
export async function previewDispatch(
  parts: GateParts & Pick<SlotFillerParts, 'reads'>,
  beside: readonly ClaimBeside[],
): Promise<DispatchDecision[]> {
  const reading = { ...parts.source.read(), problem: null };
  const { activeStates } = reading.workflow.settings.tracker;
  const issues = await parts.reads.byStates(activeStates, { job: 'dry_run', cause: 'person' });
  return decide(parts, reading, issues, dispatchGates(parts, reading, beside), beside);
}

function decide(
  { claims, trackerFor }: GateParts,
  { workflow }: WorkflowReading,
  issues: readonly Issue[],
  outside: DispatchGates,
  beside: readonly ClaimBeside[] = [],
): DispatchDecision[] {
  const { settings } = workflow;
  return planDispatch({
    issues,
    settings,
    runningStates: [...claims.takenSlots(), ...beside.flatMap(({ slotInState }) => slotInState ?? [])],
    startMove: trackerFor(settings).startMove,
    outside,
  });
}
