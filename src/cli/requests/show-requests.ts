import { systemClock } from '../../clock/system-clock.ts';
import type { PollingSettings } from '../../core/settings.ts';
import { countText } from '../../core/text/amount-text.ts';
import { readRequests } from '../../daemon/services/read-requests.ts';
import {
  type Amounts,
  type ProviderReport,
  providerReports,
  type Spender,
  spenders,
} from '../../daemon/services/request-figures.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { daemonStatus, openWorkplace, type WorkplaceFlags } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { budgetLines, type DaemonRequests, daemonLines, providerLines, spenderLines } from './request-lines.ts';

export interface RequestsFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly hours: number;
}

/** `baton requests`: who spent what, from the store; and what the limiter of a daemon says, where one runs. */
export async function showRequests(flags: RequestsFlags, surroundings: Surroundings): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { store, settings } = workplace;
  const { hours } = flags;
  const status = await daemonStatus(flags, surroundings);
  const limiter = limiterOf(status);
  const counts = await readRequests(store.requestCounts, hours, systemClock.now());
  const { budget } = settings.polling;
  const providers = providerReports({ ...counts, budget, alsoProviders: limiter.map(({ provider }) => provider) });
  const spent = spenders(counts.window);
  if (flags.json) {
    const told = {
      at: new Date(counts.now).toISOString(),
      daemon: status !== null,
      hours,
      budget: presentBudget(budget),
      providers: providers.map((each) => presentProvider(each, limiter)),
      spenders: spent.map(presentSpender),
    };
    surroundings.stdout.write(jsonLine(told));
    return exitCodes.ok;
  }
  const isAnythingSent = providers.some(({ requests, today }) => requests + today > 0);
  const lines = [
    ...(isAnythingSent ? [] : nothingSent(settings.tracker.kind, budget, hours)),
    ...(providers.length === 0 ? [] : providerLines(providers, hours)),
    ...budgetLines(providers),
    ...daemonLines(limiter),
    ...spenderLines(spent, hours),
  ];
  surroundings.stdout.write(`${lines.join('\n')}\n`);
  return exitCodes.ok;
}

/** Our own daemon made it; one of another version may not have it. */
function limiterOf(status: unknown): readonly DaemonRequests[] {
  if (typeof status !== 'object' || status === null || !('requests' in status)) return [];
  return Array.isArray(status.requests) ? (status.requests as readonly DaemonRequests[]) : [];
}

function nothingSent(trackerKind: string, budget: PollingSettings['budget'], hours: number): string[] {
  const { requestsPerHour, requestsPerDay } = budget;
  // A budget for a provider by name is shown with that provider.
  const bounds = [
    ...(typeof requestsPerHour === 'number' ? [`${countText(requestsPerHour)} an hour`] : []),
    ...(typeof requestsPerDay === 'number' ? [`${countText(requestsPerDay)} a day`] : []),
  ];
  return [
    `Nothing was sent to a remote service today or in the last ${hours === 1 ? 'hour' : `${hours} hours`}.`,
    `Counted is each request of the tracker (${trackerKind}; one on this machine sends none), failed ones too: by provider,`,
    'route, method, status class, job and cause, with bytes and latency.',
    ...(bounds.length === 0 ? [] : [`The budget of each provider: ${bounds.join(', ')}.`]),
  ];
}

function presentBudget({ requestsPerHour, requestsPerDay }: PollingSettings['budget']): Record<string, unknown> {
  return { requests_per_hour: requestsPerHour, requests_per_day: requestsPerDay };
}

function presentProvider(report: ProviderReport, limiter: readonly DaemonRequests[]): Record<string, unknown> {
  const { provider, lastHour, today, ratePerHour, projectedToday, budgets } = report;
  return {
    provider,
    last_hour: lastHour,
    today,
    rate_per_hour: ratePerHour,
    projected_today: projectedToday,
    ...presentAmounts(report),
    budgets: budgets.map(({ name, limit, used, perCent, step }) => ({ name, limit, used, per_cent: perCent, step })),
    limiter: limiter.find((each) => each.provider === provider) ?? null,
  };
}

function presentSpender({ provider, job, cause, route, ...rest }: Spender): Record<string, unknown> {
  return { provider, job, cause, route, ...presentAmounts(rest) };
}

function presentAmounts({ requests, failures, bytes, meanLatencyMs }: Amounts): Record<string, unknown> {
  return { requests, failures, bytes, mean_latency_ms: meanLatencyMs };
}
