import { pressureOf } from '../../core/requests/request-budget.ts';
import { importanceOf, type RequestCause } from '../../core/requests/request-caller.ts';
import type { PressureStep } from '../../core/requests/request-pressure.ts';
import type { RequestAllowance } from '../../core/settings/setting.ts';
import type { PollingSettings } from '../../core/settings.ts';
import type { RequestBucket, RequestSum } from '../../store/tables/request-counts.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
/** How far back "now" reaches when the rate is told: several polls of a dormant Baton. */
const rateWindowMs = 10 * minuteMs;

/** What is known of requests at one instant. */
export interface RequestFacts {
  readonly now: number;
  /** Of the last hour, by minute. */
  readonly hour: readonly RequestBucket[];
  /** Of this UTC day. */
  readonly today: readonly RequestBucket[];
  /** Of the hours that are asked for. */
  readonly window: readonly RequestSum[];
  readonly budget: PollingSettings['budget'];
  /** Providers to be told of though nothing was sent to them. */
  readonly alsoProviders: readonly string[];
}

export interface ProviderReport extends Amounts {
  readonly provider: string;
  readonly lastHour: number;
  readonly today: number;
  /** Of the last minutes, as an hour of them would be. */
  readonly ratePerHour: number;
  /** Today's, if the rest of the UTC day goes on like the last hour. */
  readonly projectedToday: number;
  readonly budgets: readonly BudgetReport[];
}

export interface BudgetReport {
  readonly name: 'requests_per_hour' | 'requests_per_day';
  readonly limit: number;
  readonly used: number;
  /** Cut off, so that it never says that a step is reached when it is not. */
  readonly perCent: number;
  readonly step: PressureStep;
}

/** One job that asks one route for one cause. */
export interface Spender extends Amounts {
  readonly provider: string;
  readonly job: string;
  readonly cause: string;
  readonly route: string;
}

/** Of the hours that are asked for. */
export interface Amounts {
  readonly requests: number;
  readonly failures: number;
  readonly bytes: number;
  /** Null where nothing was sent. */
  readonly meanLatencyMs: number | null;
}

/** Each provider with what it got, by name. */
export function providerReports(facts: RequestFacts): ProviderReport[] {
  const seen = [...facts.hour, ...facts.today, ...facts.window].map(({ provider }) => provider);
  const names = new Set([...seen, ...facts.alsoProviders, ...namedIn(facts.budget)]);
  return [...names].toSorted().map((provider) => providerReport(provider, facts));
}

/** Who spent what, the most first. */
export function spenders(window: readonly RequestSum[]): Spender[] {
  const groups = new Map<string, RequestSum[]>();
  for (const sum of window) {
    const key = JSON.stringify([sum.provider, sum.job, sum.cause, sum.route]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [sum]);
    else group.push(sum);
  }
  return [...groups.values()]
    .flatMap((sums) => {
      const [first] = sums;
      if (first === undefined) return [];
      const { provider, job, cause, route } = first;
      return [{ provider, job, cause, route, ...amounts(sums) }];
    })
    .toSorted((left, right) => right.requests - left.requests);
}

function providerReport(provider: string, facts: RequestFacts): ProviderReport {
  const { now } = facts;
  const hour = facts.hour.filter((bucket) => bucket.provider === provider);
  const today = facts.today.filter((bucket) => bucket.provider === provider);
  const [lastHour, sentToday] = [countOf(hour), countOf(today)];
  const recent = hour.filter(({ beginsAt }) => beginsAt > now - rateWindowMs);
  const hoursLeft = (dayMs - (now % dayMs)) / hourMs;
  return {
    provider,
    lastHour,
    today: sentToday,
    ratePerHour: countOf(recent) * (hourMs / rateWindowMs),
    projectedToday: Math.round(sentToday + lastHour * hoursLeft),
    ...amounts(facts.window.filter((sum) => sum.provider === provider)),
    budgets: [
      ...budgetReport('requests_per_hour', limitOf(facts.budget.requestsPerHour, provider), hour, now),
      ...budgetReport('requests_per_day', limitOf(facts.budget.requestsPerDay, provider), today, now),
    ],
  };
}

function budgetReport(
  name: BudgetReport['name'],
  limit: number | null,
  buckets: readonly RequestBucket[],
  now: number,
): BudgetReport[] {
  if (limit === null) return [];
  const used = countOf(buckets);
  // Causes are written by Baton alone; one of another version is work.
  const isOther = ({ cause }: RequestBucket): boolean =>
    importanceOf({ job: '', cause: cause as RequestCause }) !== 'custody';
  const usedByOthers = countOf(buckets.filter(isOther));
  const freeAt = name === 'requests_per_day' ? now - (now % dayMs) + dayMs : now + hourMs;
  const { step } = pressureOf([{ name, limit, used, usedByOthers, freeAt }], now);
  return [{ name, limit, used, perCent: Math.floor((used / limit) * 100), step }];
}

function amounts(sums: readonly RequestSum[]): Amounts {
  const requests = countOf(sums);
  const latencyMs = sums.reduce((total, sum) => total + sum.latencyMs, 0);
  return {
    requests,
    failures: countOf(sums.filter(({ statusClass }) => !/^[123]xx$/.test(statusClass))),
    bytes: sums.reduce((total, sum) => total + sum.bytes, 0),
    meanLatencyMs: requests === 0 ? null : Math.round(latencyMs / requests),
  };
}

function countOf(counted: readonly { readonly count: number }[]): number {
  return counted.reduce((total, { count }) => total + count, 0);
}

function limitOf(allowance: RequestAllowance | null, provider: string): number | null {
  if (allowance === null || typeof allowance === 'number') return allowance;
  return Object.hasOwn(allowance, provider) ? (allowance[provider] ?? null) : null;
}

function namedIn({ requestsPerHour, requestsPerDay }: PollingSettings['budget']): string[] {
  return [requestsPerHour, requestsPerDay].flatMap((allowance) =>
    typeof allowance === 'object' && allowance !== null ? Object.keys(allowance) : [],
  );
}
