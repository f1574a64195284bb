import type { RequestReport } from '../../client/schema/system.ts';
import { pressureOf } from '../../core/requests/request-budget.ts';
import { importanceOf, type RequestCause } from '../../core/requests/request-caller.ts';
import type { PollingSettings } from '../../core/settings.ts';
import { timeText } from '../../core/text/time-text.ts';
import type { RequestBucket, RequestCounts, RequestSum } from '../../store/tables/request-counts.ts';
import { allowanceOf, type RemoteView } from '../remote.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
/** The time over which the current rate is measured: several polls of a dormant Baton. */
const rateWindowMs = 10 * minuteMs;

/** The facts about requests at one instant. */
export interface RequestFacts {
  readonly now: number;
  /** The last hour, by minute. */
  readonly hour: readonly RequestBucket[];
  /** This UTC day. */
  readonly today: readonly RequestBucket[];
  /** The requested hours. */
  readonly window: readonly RequestSum[];
  readonly budget: PollingSettings['budget'];
  /** Providers to report although nothing was sent to them. */
  readonly alsoProviders: readonly string[];
}

type Provider = RequestReport['providers'][number];
type Spender = RequestReport['spenders'][number];
type Budget = Provider['budgets'][number];
/** What the limiter of a daemon says of a provider. */
type Limiter = Pick<Provider, 'step' | 'text' | 'until' | 'windows'>;

export interface RequestReportParts {
  readonly requestCounts: Pick<RequestCounts, 'series' | 'sum'>;
  /** The current state of the limiter of each service. */
  readonly views: readonly RemoteView[];
  readonly budget: PollingSettings['budget'];
  readonly now: number;
}

/** The largest spenders; the others spent next to nothing. */
const mostSpenders = 200;

/** The report of `baton requests`, for the API. */
export async function requestReport(
  { requestCounts, views, budget, now }: RequestReportParts,
  hours: number,
): Promise<RequestReport> {
  const counts = await readRequests(requestCounts, hours, now);
  const providers = providerReports({ ...counts, budget, alsoProviders: views.map(({ provider }) => provider) });
  return {
    hours,
    budget: { requests_per_hour: budget.requestsPerHour, requests_per_day: budget.requestsPerDay },
    providers: providers.map((report) => ({
      ...report,
      ...limiterFacts(views.find((view) => view.provider === report.provider)),
    })),
    spenders: spenders(counts.window).slice(0, mostSpenders),
  };
}

/** Reads the requests from the store, for a report over these hours. */
async function readRequests(
  requestCounts: RequestReportParts['requestCounts'],
  hours: number,
  now: number,
): Promise<Omit<RequestFacts, 'budget' | 'alsoProviders'>> {
  // Buckets of whole minutes: the minute in progress and those before it.
  const since = (ms: number): number => now - (now % minuteMs) + minuteMs - ms;
  const to = now + 1;
  return {
    now,
    hour: await requestCounts.series({ bucket: 'minute', from: since(hourMs), to }),
    today: await requestCounts.series({ bucket: 'day', from: now - (now % dayMs), to }),
    window: await requestCounts.sum({ bucket: 'minute', from: since(hours * hourMs), to }),
  };
}

/** A service that this daemon has not called yet has no limiter. */
function limiterFacts(view: RemoteView | undefined): Limiter {
  if (view === undefined) return { step: 'free', text: '', until: null, windows: [] };
  const { pressure, windows } = view;
  return {
    step: pressure.step,
    text: pressure.text,
    until: timeText(pressure.until),
    windows: windows.map(({ name, source, limit, used, resetAt }) => ({
      name,
      source,
      limit,
      used,
      reset_at: timeText(resetAt),
    })),
  };
}

/** One report for each provider, by name. */
export function providerReports(facts: RequestFacts): Omit<Provider, keyof Limiter>[] {
  const seen = [...facts.hour, ...facts.today, ...facts.window].map(({ provider }) => provider);
  const names = new Set([...seen, ...facts.alsoProviders, ...namedIn(facts.budget)]);
  return [...names].toSorted().map((provider) => providerReport(provider, facts));
}

/** The spenders, the largest first. */
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
      const { mean_latency_ms, ...spent } = amounts(sums);
      return [{ provider, job, cause, route, ...spent, mean_latency_ms: mean_latency_ms ?? 0 }];
    })
    .toSorted((left, right) => right.requests - left.requests);
}

function providerReport(provider: string, facts: RequestFacts): Omit<Provider, keyof Limiter> {
  const { now } = facts;
  const hour = facts.hour.filter((bucket) => bucket.provider === provider);
  const today = facts.today.filter((bucket) => bucket.provider === provider);
  const [lastHour, sentToday] = [countOf(hour), countOf(today)];
  const recent = hour.filter(({ beginsAt }) => beginsAt > now - rateWindowMs);
  const hoursLeft = (dayMs - (now % dayMs)) / hourMs;
  return {
    provider,
    last_hour: lastHour,
    today: sentToday,
    // The rate of the last minutes, scaled to an hour.
    rate_per_hour: countOf(recent) * (hourMs / rateWindowMs),
    // Assumes that the rest of the UTC day continues like the last hour.
    projected_today: Math.round(sentToday + lastHour * hoursLeft),
    ...amounts(facts.window.filter((sum) => sum.provider === provider)),
    budgets: [
      ...budgetReport('requests_per_hour', allowanceOf(facts.budget.requestsPerHour, provider), hour, now),
      ...budgetReport('requests_per_day', allowanceOf(facts.budget.requestsPerDay, provider), today, now),
    ],
  };
}

function budgetReport(
  name: 'requests_per_hour' | 'requests_per_day',
  limit: number | null,
  buckets: readonly RequestBucket[],
  now: number,
): Budget[] {
  if (limit === null) return [];
  const used = countOf(buckets);
  // Only Baton writes causes; a cause of another version counts as ordinary work.
  const isOther = ({ cause }: RequestBucket): boolean =>
    importanceOf({ job: '', cause: cause as RequestCause }) !== 'essential';
  const usedByOthers = countOf(buckets.filter(isOther));
  const freeAt = name === 'requests_per_day' ? now - (now % dayMs) + dayMs : now + hourMs;
  const { step } = pressureOf([{ name, limit, used, usedByOthers, freeAt }], now);
  // Rounded down, so that it never shows a step as reached too early.
  return [{ name, limit, used, per_cent: Math.floor((used / limit) * 100), step }];
}

function amounts(sums: readonly RequestSum[]): Pick<Provider, 'requests' | 'failed' | 'bytes' | 'mean_latency_ms'> {
  const requests = countOf(sums);
  const latencyMs = sums.reduce((total, sum) => total + sum.latencyMs, 0);
  return {
    requests,
    failed: countOf(sums.filter(({ statusClass }) => !/^[123]xx$/.test(statusClass))),
    bytes: sums.reduce((total, sum) => total + sum.bytes, 0),
    mean_latency_ms: requests === 0 ? null : Math.round(latencyMs / requests),
  };
}

function countOf(counted: readonly { readonly count: number }[]): number {
  return counted.reduce((total, { count }) => total + count, 0);
}

function namedIn({ requestsPerHour, requestsPerDay }: PollingSettings['budget']): string[] {
  return [requestsPerHour, requestsPerDay].flatMap((allowance) =>
    typeof allowance === 'object' && allowance !== null ? Object.keys(allowance) : [],
  );
}
