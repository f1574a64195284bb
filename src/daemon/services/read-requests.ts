import type { RequestCounts } from '../../store/tables/request-counts.ts';
import { dayMs, hourMs, minuteMs, type RequestFacts } from './request-figures.ts';

/** What the store knows of requests, for a report over these hours. */
export async function readRequests(
  requestCounts: Pick<RequestCounts, 'series' | 'sum'>,
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
