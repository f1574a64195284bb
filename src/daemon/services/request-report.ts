import type { PollingSettings } from '../../core/settings.ts';
import type { RequestReport } from '../../server/api/schema/system.ts';
import { timeText } from '../../server/api/time-text.ts';
import type { RequestCounts } from '../../store/tables/request-counts.ts';
import type { RemoteView } from '../remote.ts';
import { readRequests } from './read-requests.ts';
import { providerReports, spenders } from './request-figures.ts';

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
    providers: providers.map(({ provider, lastHour, today, ratePerHour, projectedToday }) => ({
      ...{ provider, last_hour: lastHour, today, rate_per_hour: ratePerHour, projected_today: projectedToday },
      ...limiterFacts(views.find((view) => view.provider === provider)),
    })),
    spenders: spenders(counts.window)
      .slice(0, mostSpenders)
      .map(({ provider, job, cause, route, requests, failures, bytes, meanLatencyMs }) => ({
        ...{ provider, job, cause, route, requests, failed: failures, bytes, mean_latency_ms: meanLatencyMs ?? 0 },
      })),
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
