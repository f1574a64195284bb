import type { Clock } from '../clock/clock.ts';
import { nextUtcMidnight } from '../core/cadence/utc-day.ts';
import { mayLeave, stepOf, type WindowFacts } from '../core/requests/request-budget.ts';
import type { PressureStep } from '../core/requests/request-pressure.ts';
import type { RequestWindow } from './http.ts';
import { hasPassed, type Instant, laterBy, wallTimeOf } from './instant.ts';
import { type Bucket, type CountedRequests, RequestTally, type Split } from './request-tally.ts';

const minuteMs = 60_000;
const dayMs = 24 * 3_600_000;

/** A request may have left at the end of its minute: it counts for an hour from there. */
const countsForMs = 61 * minuteMs;

/** How many requests a provider may get; null: as many as it allows. */
export interface RequestBudget {
  readonly requestsPerHour: number | null;
  readonly requestsPerDay: number | null;
}

/** What the store has counted for the provider: the minutes that began within the last 61, and the UTC day that goes on. */
export interface RequestHistory {
  readonly minutes: readonly CountedRequests[];
  readonly days: readonly CountedRequests[];
}

/**
 * What was spent of budgets: of any hour, in steps of a minute, and of a UTC day. In no hour more leaves than allowed. The
 * hour is kept on both clocks; the day is that of the wall clock, because that is how days are counted.
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

  /** Takes in what the store of this name has. May be called at any time, also while requests leave. */
  async seed(source: string, read: () => Promise<RequestHistory>): Promise<void> {
    const [minutes, days] = [this.#minutes.mark(source), this.#days.mark(source)];
    const history = await read();
    this.#minutes.seed(source, history.minutes, minutes);
    this.#days.seed(source, history.days, days);
  }

  /** Bounds as they stand now. The hour is free when its step would be one that is `enough`. */
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
    this.#forgetOld();
    const bounds: WindowFacts[] = [];
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
    // A bound too small for any request is checked again when all that counts now is gone.
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
    // Days next to today stay: a clock that is set back and forth over midnight finds its counts again.
    this.#days.forget(({ wallAt }) => Math.abs(now - wallAt) > 2 * dayMs);
  }
}

const perHour = 'requests_per_hour';
const perDay = 'requests_per_day';

/** A budget of which work gets nothing, used or not, says so wherever it is the reason: waiting does not help there. */
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
