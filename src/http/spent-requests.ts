import type { Clock } from '../clock/clock.ts';
import { nextUtcMidnight } from '../core/cadence/utc-day.ts';
import { mayLeave, stepOf, type WindowFacts } from '../core/requests/request-budget.ts';
import type { PressureStep } from '../core/requests/request-pressure.ts';
import type { RequestWindow } from './http.ts';
import { hasPassed, type Instant, laterBy, wallTimeOf } from './instant.ts';
import { type Bucket, type CountedRequests, RequestTally, type Split } from './request-tally.ts';

const minuteMs = 60_000;
const dayMs = 24 * 3_600_000;

/** A request may have been sent at the end of its minute, so it counts for an hour from there. */
const countsForMs = 61 * minuteMs;

/** How many requests may be sent to a provider; null: no budget. */
export interface RequestBudget {
  readonly requestsPerHour: number | null;
  readonly requestsPerDay: number | null;
}

/** The counts of a store for the provider: the minutes that began within the last 61 minutes, and the current UTC day. */
export interface RequestHistory {
  readonly minutes: readonly CountedRequests[];
  readonly days: readonly CountedRequests[];
}

/**
 * Counts the requests of any hour, in steps of a minute, and of a UTC day. No hour exceeds its budget. The hour is measured
 * on both clocks, the day on the wall clock.
 */
export class SpentRequests {
  readonly #clock: Clock;
  readonly #minutes: RequestTally;
  readonly #days: RequestTally;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#minutes = new RequestTally(clock, minuteMs);
    this.#days = new RequestTally(clock, dayMs);
  }

  count(at: number, kind: keyof Split, change: 1 | -1): void {
    this.#forgetOld();
    for (const tally of [this.#minutes, this.#days]) tally.count(at, kind, change);
  }

  written(source: string, at: number, kind: keyof Split): void {
    for (const tally of [this.#minutes, this.#days]) tally.written(source, at, kind);
  }

  /** Reads the counts of the store of this name. May be called at any time, also while requests are sent. */
  async seed(source: string, read: () => Promise<RequestHistory>): Promise<void> {
    const [minutes, days] = [this.#minutes.mark(source), this.#days.mark(source)];
    const history = await read();
    this.#minutes.seed(source, history.minutes, minutes);
    this.#days.seed(source, history.days, days);
  }

  /** The current windows. The hour is free as soon as `isEnough` accepts its step. */
  facts(budget: RequestBudget, isEnough: (step: PressureStep) => boolean): readonly WindowFacts[] {
    return this.#bounds(budget, isEnough).map((bound) => ({ ...bound, name: nameForPeople(bound) }));
  }

  windows(budget: RequestBudget): readonly RequestWindow[] {
    return this.#bounds(budget, () => true).map(({ name, limit, used, freeAt }) => ({
      name,
      source: 'budget',
      limit,
      used,
      resetAt: name === perDay ? freeAt : null,
    }));
  }

  #bounds(budget: RequestBudget, isEnough: (step: PressureStep) => boolean): readonly WindowFacts[] {
    const bounds: WindowFacts[] = [];
    // Each job asks after its run, mostly without a budget.
    if (budget.requestsPerHour === null && budget.requestsPerDay === null) return bounds;
    this.#forgetOld();
    if (budget.requestsPerHour !== null) bounds.push(this.#hour(budget.requestsPerHour, isEnough));
    if (budget.requestsPerDay !== null) bounds.push(this.#today(budget.requestsPerDay));
    return bounds;
  }

  #hour(limit: number, isEnough: (step: PressureStep) => boolean): WindowFacts {
    const buckets = this.#minutes
      .buckets()
      .map((bucket) => ({ ...bucket, endsAt: wallTimeOf(this.#clock, endOf(bucket.beginsAt)) }))
      .toSorted((left, right) => left.endsAt - right.endsAt);
    const now = sumOf(buckets);
    const left = { ...now };
    // A budget too small for any request is checked again when all current requests have expired.
    let freeAt = this.#clock.now() + countsForMs;
    for (const { total, endsAt } of buckets) {
      left.essential -= total.essential;
      left.others -= total.others;
      freeAt = endsAt;
      if (isEnough(stepOf({ limit, ...usedOf(left) }))) break;
    }
    return { name: perHour, limit, ...usedOf(now), freeAt };
  }

  #today(limit: number): WindowFacts {
    const midnight = nextUtcMidnight(this.#clock.now());
    const today = this.#days.buckets().filter(({ beginsAt }) => beginsAt.wallAt === midnight - dayMs);
    return { name: perDay, limit, ...usedOf(sumOf(today)), freeAt: midnight };
  }

  #forgetOld(): void {
    const now = this.#clock.now();
    this.#minutes.forget((beginsAt) => hasPassed(this.#clock, endOf(beginsAt)));
    // Neighbouring days stay, for a clock that is set back and forth over midnight.
    this.#days.forget(({ wallAt }) => Math.abs(now - wallAt) > 2 * dayMs);
  }
}

const perHour = 'requests_per_hour';
const perDay = 'requests_per_day';

/** A budget that is too small for work says so, because waiting does not help. */
function nameForPeople({ name, limit }: WindowFacts): string {
  const unused = stepOf({ limit, used: 0, usedByOthers: 0 });
  return mayLeave('work', { step: unused })
    ? name
    : `${name} is too small for any work: a tenth is reserved for live runs`;
}

/** When a minute stops counting. */
function endOf(beginsAt: Instant): Instant {
  return laterBy(beginsAt, countsForMs);
}

function sumOf(buckets: readonly Bucket[]): Split {
  const sum = { essential: 0, others: 0 };
  for (const { total } of buckets) {
    sum.essential += total.essential;
    sum.others += total.others;
  }
  return sum;
}

function usedOf({ essential, others }: Split): { readonly used: number; readonly usedByOthers: number } {
  return { used: essential + others, usedByOthers: others };
}
