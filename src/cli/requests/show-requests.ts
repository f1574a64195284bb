import type { RequestReport } from '../../client/schema/system.ts';
import { countText } from '../../core/text/amount-text.ts';
import { timeText } from '../../core/text/time-text.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { budgetLines, daemonLines, providerLines, spenderLines } from './request-lines.ts';

export interface RequestsFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly hours: number;
}

/** `baton requests`: who spent what, from the store; and what the limiter of a daemon says, where one runs. */
export async function showRequests(flags: RequestsFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const report = await connection.project.requests(flags.hours);
  const daemon = connection.isDaemon();
  const { hours, providers, spenders, budget } = report;
  if (flags.json) {
    surroundings.stdout.write(jsonLine({ at: timeText(surroundings.clock.now()), daemon, ...report }));
    return exitCodes.ok;
  }
  const isAnythingSent = providers.some(({ requests, today }) => requests + today > 0);
  const lines = [
    ...(isAnythingSent ? [] : nothingSent(budget, hours)),
    ...(providers.length === 0 ? [] : providerLines(providers, hours)),
    ...budgetLines(providers),
    ...(daemon ? daemonLines(providers) : []),
    ...spenderLines(spenders, hours),
  ];
  surroundings.stdout.write(`${lines.join('\n')}\n`);
  return exitCodes.ok;
}

function nothingSent({ requests_per_hour, requests_per_day }: RequestReport['budget'], hours: number): string[] {
  // A budget for a provider by name is shown with that provider.
  const bounds = [
    ...(typeof requests_per_hour === 'number' ? [`${countText(requests_per_hour)} an hour`] : []),
    ...(typeof requests_per_day === 'number' ? [`${countText(requests_per_day)} a day`] : []),
  ];
  return [
    `Nothing was sent to a remote service today or in the last ${hours === 1 ? 'hour' : `${hours} hours`}.`,
    'Counted is each request of a tracker that is elsewhere, failed ones too: by provider, route, method, status class, job',
    'and cause, with bytes and latency.',
    ...(bounds.length === 0 ? [] : [`The budget of each provider: ${bounds.join(', ')}.`]),
  ];
}
