import type { RequestReport } from '../../client/schema/system.ts';
import type { PollingSettings } from '../../core/settings.ts';
import { timeText } from '../../core/text/time-text.ts';
import type { RequestCounts } from '../../store/tables/request-counts.ts';
import type { RemoteView } from '../remote.ts';
import { dayMs, hourMs, minuteMs, providerReports, type RequestFacts, spenders } from './request-figures.ts';

export interface RequestReportParts {
  readonly requestCounts: Pick<RequestCounts, 'series' | 'sum'>;
  /** What the limiter of each service says just now. */
  readonly views: readonly RemoteView[];
  readonly budget: PollingSettings['budget'];
  readonly now: number;
}

/** Those that spent the most; the others spent next to nothing. */
const mostSpenders = 200;

/** What `baton requests` tells, for the API. */
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
      provider: report.provider,
      last_hour: report.lastHour,
      today: report.today,
      rate_per_hour: report.ratePerHour,
      projected_today: report.projectedToday,
      requests: report.requests,
      failed: report.failures,
      bytes: report.bytes,
      mean_latency_ms: report.meanLatencyMs,
      budgets: report.budgets.map(({ name, limit, used, perCent, step }) => ({
        name,
        limit,
        used,
        per_cent: perCent,
        step,
      })),
      ...limiterFacts(views.find((view) => view.provider === report.provider)),
    })),
    spenders: spenders(counts.window)
      .slice(0, mostSpenders)
      .map(({ provider, job, cause, route, requests, failures, bytes, meanLatencyMs }) => ({
        provider,
        job,
        cause,
        route,
        requests,
        failed: failures,
        bytes,
        mean_latency_ms: meanLatencyMs ?? 0,
      })),
  };
}

/** What the store knows of requests, for a report over these hours. */
async function readRequests(
  requestCounts: RequestReportParts['requestCounts'],
  hours: number,
  now: number,
): Promise<Omit<RequestFacts, 'budget' | 'alsoProviders'>> {
  // Buckets of whole minutes: the one that is not over yet and those before it.
  const since = (ms: number): number => now - (now % minuteMs) + minuteMs - ms;
  const to = now + 1;
  return {
    now,
    hour: await requestCounts.series({ bucket: 'minute', from: since(hourMs), to }),
    today: await requestCounts.series({ bucket: 'day', from: now - (now % dayMs), to }),
    window: await requestCounts.sum({ bucket: 'minute', from: since(hours * hourMs), to }),
  };
}

/** A service that this daemon has not asked yet has nothing to say. */
function limiterFacts(
  view: RemoteView | undefined,
): Pick<RequestReport['providers'][number], 'step' | 'text' | 'until' | 'windows'> {
  if (view === undefined) return { step: 'free', text: '', until: null, windows: [] };
  const { pressure, windows } = view;
  return {
    step: pressure.step,
    text: pressure.text,
    until: timeText(pressure.until),
    windows: windows.map(({ name, source, limit, used, resetAt }) => ({
      ...{ name, source, limit, used, reset_at: timeText(resetAt) },
    })),
  };
}
