import { utcDay } from '../../core/cadence/utc-day.ts';
import type { DaySpent } from '../../core/run/limits.ts';
import type { Store } from '../../store/store.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { UsageSum } from '../../store/tables/usage.ts';
import type { ClaimChange, Running } from '../claims/claim.ts';
import { RoleSpending, type RoleSpendingParts } from './role-spending.ts';

export type SpendingParts = RoleSpendingParts;

/**
 * The counters of a day belong to no issue. If a tracker has an issue with this id, nothing clashes: issue counters
 * have other names.
 */
const noIssue = '@day';
const isOfDay = /^(tokens|micro_usd) /;

/** How often a reading starts again because a run ended during it; after that the next reading has it. */
const mostTries = 3;

const nothing: DaySpent = { tokens: 0, microUsd: 0 };

/**
 * The usage of the project today. A day counts the runs that ended on it, by every daemon on the store, and all runs in
 * progress so far. Each run counts once:
 *
 * - one in progress here by its own reports, because the store is a moment behind;
 * - one without an end that is not in progress here, of another daemon or of a dead one, by its row (`elsewhere`);
 * - one that has ended by the sum of its day;
 * - one whose end is being written here by its own reports, until a reading has found that end.
 */
export class Spending {
  readonly roles: RoleSpending;
  readonly #parts: SpendingParts;
  #readings = 0;
  /** The UTC day that was read, `2026-11-15`. */
  #day = '';
  /** The usage at that reading, without the runs in progress here. */
  #spent = nothing;
  /** The part of it that belongs to runs without an end that are not in progress here. */
  #elsewhere = nothing;
  /** The usage when a person last allowed more; only later usage counts. */
  #allowedAfter = nothing;

  constructor(parts: SpendingParts) {
    this.#parts = parts;
    this.roles = new RoleSpending(parts);
    parts.claims.onChange((change) => this.#follow(change));
  }

  /** Reads the day again. Returns the runs without an end, as the store has them. */
  async read(): Promise<readonly RunRecord[]> {
    const { store, project, clock, claims } = this.#parts;
    await this.roles.read();
    const day = utcDay(clock.now());
    const { sum, unfinished } = await readSpending(store, project, day);
    const allowed = await store.counters.read({ project, issueId: noIssue });

    // No await from here on: the runs in progress here must be those at the moment of the reading.
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

  /** The usage that counts for the limits of today. */
  today(): DaySpent {
    const here = this.#spentHere();
    // Yesterday's reading is void. But a run that had no end then ends today, or is still in progress.
    if (this.#day !== utcDay(this.#parts.clock.now())) return added(here, this.#elsewhere);
    return {
      tokens: this.#spent.tokens + here.tokens - this.#allowedAfter.tokens,
      microUsd: this.#spent.microUsd + here.microUsd - this.#allowedAfter.microUsd,
    };
  }

  /** The part of today's usage from before a person last allowed more. An allowance of yesterday is void. */
  allowedAfter(): DaySpent {
    return this.#day === utcDay(this.#parts.clock.now()) ? this.#allowedAfter : nothing;
  }

  /** A person lets work continue although the limit of the day is reached: from here on usage counts from zero. */
  async allowMore(): Promise<void> {
    const { store, project } = this.#parts;
    await this.read();
    const day = this.#day;
    // Runs that are being interrupted now count as used too.
    const { tokens, microUsd } = added(this.#spent, this.#spentHere());
    const key = { project, issueId: noIssue };
    await store.transaction(async ({ counters }) => {
      const earlier = Object.keys(await counters.read(key)).filter((name) => isOfDay.test(name));
      if (earlier.length > 0) await counters.clear(key, earlier);
      await counters.setAll(key, { [`tokens ${day}`]: tokens, [`micro_usd ${day}`]: microUsd });
    });
    this.#allowedAfter = { tokens, microUsd };
  }

  /** The end of a run is being written from now on; false: it could not be written. */
  settling(running: Running, isBeingWritten: boolean): void {
    running.settlingSince = isBeingWritten ? this.#readings : null;
  }

  /** A run has ended. A reading made since its end was written already includes it. */
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

  /** The runs in progress here, except those whose end a reading of the day has found already. */
  #spentHere(): DaySpent {
    return [...this.#parts.claims.running.values()]
      .filter(({ settlingSince }) => settlingSince === null || settlingSince === this.#readings)
      .map(({ usage }) => ({ tokens: usage.totalTokens, microUsd: usage.costMicroUsd }))
      .reduce(added, nothing);
  }
}

/**
 * The sum of the day and the runs without an end, as of one moment. A run that ends between the two reads would be
 * counted twice or not at all, so each run without an end before the sum is read must have none after it.
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
