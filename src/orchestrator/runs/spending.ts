import { utcDay } from '../../core/cadence/utc-day.ts';
import type { DaySpent } from '../../core/run/limits.ts';
import type { Store } from '../../store/store.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { UsageSum } from '../../store/tables/usage.ts';
import type { ClaimChange, Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';

export interface SpendingParts extends Pick<BaseParts, 'clock' | 'project' | 'store'> {
  readonly claims: Claims;
}

/** The counters of a day belong to no issue. Should a tracker have an issue of this id: their names are not an issue's. */
const noIssue = '@day';
const isOfDay = /^(tokens|micro_usd) /;

/** How often a reading starts again because a run ended meanwhile; then the next reading has it. */
const mostTries = 3;

const nothing: DaySpent = { tokens: 0, microUsd: 0 };

/**
 * What the project has used today. A day has used what the runs that ended on it used, by every daemon on the store, and
 * what all runs in progress have used so far. Each run counts once:
 *
 * - one in progress here by what it told us, for the store is a moment behind;
 * - one without an end that is not in progress here, of another daemon or of one that is gone, by its row (`elsewhere`);
 * - one that has ended by the sum of its day;
 * - one whose end is being written here by what it told us, until a reading has found that end.
 */
export class Spending {
  readonly #parts: SpendingParts;
  #readings = 0;
  /** The UTC day that was read, `2026-11-15`. */
  #day = '';
  /** What had been used by then, runs in progress here not included. */
  #spent = nothing;
  /** Of these, what runs without an end that are not in progress here had used. */
  #elsewhere = nothing;
  /** What had been used when a person last allowed more; only what comes after counts. */
  #allowedAfter = nothing;

  constructor(parts: SpendingParts) {
    this.#parts = parts;
    parts.claims.onChange((change) => this.#follow(change));
  }

  /** Reads the day again; gives the runs that have no end, as the store has them. */
  async read(): Promise<readonly RunRecord[]> {
    const { store, project, clock, claims } = this.#parts;
    const day = utcDay(clock.now());
    const { sum, unfinished } = await readSpending(store, project, day);
    const allowed = await store.counters.read({ project, issueId: noIssue });

    // No await from here on: which runs are in progress here is asked at the moment that was read.
    this.#readings += 1;
    for (const { issueId, runId } of unfinished) {
      const running = claims.running.get(issueId);
      // Its end is being written, and this reading does not have it yet.
      if (running?.runId === runId && running.settlingSince !== null) running.settlingSince = this.#readings;
    }
    this.#day = day;
    this.#elsewhere = this.#spentElsewhere(unfinished);
    this.#spent = added({ tokens: sum?.totalTokens ?? 0, microUsd: sum?.costMicroUsd ?? 0 }, this.#elsewhere);
    this.#allowedAfter = { tokens: allowed[`tokens ${day}`] ?? 0, microUsd: allowed[`micro_usd ${day}`] ?? 0 };
    return unfinished;
  }

  /** What counts for the limits of today. */
  today(): DaySpent {
    const here = this.#spentHere();
    // What was read yesterday is over, read again or not; but what had no end then ends today, or is still in progress.
    if (this.#day !== utcDay(this.#parts.clock.now())) return added(here, this.#elsewhere);
    return {
      tokens: this.#spent.tokens + here.tokens - this.#allowedAfter.tokens,
      microUsd: this.#spent.microUsd + here.microUsd - this.#allowedAfter.microUsd,
    };
  }

  /** What of today was used before a person last allowed more. What was allowed yesterday is over. */
  allowedAfter(): DaySpent {
    return this.#day === utcDay(this.#parts.clock.now()) ? this.#allowedAfter : nothing;
  }

  /** A person lets work go on though the limit of the day is reached: from here on it counts from zero. */
  async allowMore(): Promise<void> {
    const { store, project } = this.#parts;
    await this.read();
    const day = this.#day;
    // What is being interrupted now is used up too.
    const { tokens, microUsd } = added(this.#spent, this.#spentHere());
    const key = { project, issueId: noIssue };
    await store.transaction(async ({ counters }) => {
      const earlier = Object.keys(await counters.read(key)).filter((name) => isOfDay.test(name));
      if (earlier.length > 0) await counters.clear(key, earlier);
      await counters.set(key, `tokens ${day}`, tokens);
      await counters.set(key, `micro_usd ${day}`, microUsd);
    });
    this.#allowedAfter = { tokens, microUsd };
  }

  /** The end of a run is being written from now on; false: it could not be written. */
  settling(running: Running, isBeingWritten: boolean): void {
    running.settlingSince = isBeingWritten ? this.#readings : null;
  }

  /** A run has ended: a reading of the day since its end was written has it already. */
  #follow({ before, after, by }: ClaimChange): void {
    if (before?.status !== 'running' || after === before || by !== 'settle') return;
    const { settlingSince, usage } = before;
    if (settlingSince !== this.#readings) return;
    this.#spent = added(this.#spent, { tokens: usage.totalTokens, microUsd: usage.costMicroUsd });
  }

  #spentElsewhere(unfinished: readonly RunRecord[]): DaySpent {
    const { running } = this.#parts.claims;
    return unfinished
      .filter(({ issueId, runId }) => running.get(issueId)?.runId !== runId)
      .map(({ totalTokens, costMicroUsd }) => ({ tokens: totalTokens, microUsd: costMicroUsd }))
      .reduce(added, nothing);
  }

  /** The runs in progress here, but for those whose end a reading of the day has found already. */
  #spentHere(): DaySpent {
    return [...this.#parts.claims.running.values()]
      .filter(({ settlingSince }) => settlingSince === null || settlingSince === this.#readings)
      .map(({ usage }) => ({ tokens: usage.totalTokens, microUsd: usage.costMicroUsd }))
      .reduce(added, nothing);
  }
}

/**
 * The sum of the day and the runs without an end, as if of one moment: a run that ends between the two reads would be
 * counted twice or not at all, so a run that had no end before the sum was read must have none after it.
 */
async function readSpending(
  store: Store,
  project: string,
  day: string,
): Promise<{ readonly sum: UsageSum | undefined; readonly unfinished: readonly RunRecord[] }> {
  let before = await store.runs.unfinished(project);
  for (let tries = 1; ; tries += 1) {
    const [sum] = await store.usage.sumByDay(project, { fromDay: day, toDay: day });
    const unfinished = await store.runs.unfinished(project);
    const still = new Set(unfinished.map(({ runId }) => runId));
    if (tries === mostTries || before.every(({ runId }) => still.has(runId))) return { sum, unfinished };
    before = unfinished;
  }
}

function added(left: DaySpent, right: DaySpent): DaySpent {
  return { tokens: left.tokens + right.tokens, microUsd: left.microUsd + right.microUsd };
}
