import type { RequestReport } from '../../client/schema/system.ts';
import { countText, durationText } from '../../core/text/amount-text.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { timeText } from '../../core/text/time-text.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { sizeText } from '../workspace/size-text.ts';

export interface RequestsFlags extends WorkplaceFlags {
  readonly json?: boolean;
  readonly hours: number;
}

/** `baton requests`: the counted requests, from the store; and the state of the limiter, if a daemon runs. */
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
  // A budget for one provider is shown with that provider.
  const bounds = [
    ...(typeof requests_per_hour === 'number' ? [`${countText(requests_per_hour)} an hour`] : []),
    ...(typeof requests_per_day === 'number' ? [`${countText(requests_per_day)} a day`] : []),
  ];
  return [
    `Baton sent no request to a remote service today or in the last ${hours === 1 ? 'hour' : `${hours} hours`}.`,
    'Baton counts each request to a remote service, also those that fail: what sent it and why, how it ended, its size and',
    'how long it took.',
    ...(bounds.length === 0 ? [] : [`The budget of each provider: ${bounds.join(', ')}.`]),
  ];
}

/** The most that people see; programs get all. */
const mostSpenders = 12;

const stepWords: Readonly<Record<string, string>> = {
  free: 'free',
  warned: 'warned: 70 % or more',
  stretched: 'stretched: polls are further apart, no background reads',
  essential_only: 'essential only: just the requests that live runs need',
  closed: 'closed: no request is sent',
};

type Provider = RequestReport['providers'][number];
type Spender = RequestReport['spenders'][number];

function providerLines(providers: readonly Provider[], hours: number): string[] {
  const titles = ['PROVIDER', 'LAST HOUR>', 'TODAY>', 'RATE AN HOUR>', 'BY MIDNIGHT UTC>', `${hours} H>`];
  return columns(
    [...titles, ...amountTitles],
    providers.map((row) => [
      harmlessLine(row.provider),
      ...[row.last_hour, row.today, row.rate_per_hour, row.projected_today, row.requests].map(countText),
      ...amountCells(row),
    ]),
  );
}

function budgetLines(providers: readonly Provider[]): string[] {
  const rows = providers.flatMap(({ provider, budgets }) =>
    budgets.map(({ name, used, limit, per_cent, step }) => [
      `${harmlessLine(provider)} ${name}`,
      ...[used, limit].map(countText),
      `${countText(per_cent)} %`,
      stepWords[step] ?? harmlessLine(step),
    ]),
  );
  return rows.length === 0 ? [] : ['', ...columns(['BUDGET', 'USED>', 'LIMIT>', 'SHARE>', 'STEP'], rows)];
}

/** The limits that the daemon knows, including those that the service announces. */
function daemonLines(found: readonly Provider[]): string[] {
  return found.flatMap(({ provider, step, text, until, windows }) => [
    '',
    `The daemon on ${harmlessLine(provider)}: ${text === '' ? (stepWords[step] ?? harmlessLine(step)) : harmlessLine(text)}${until === null ? '' : `, until ${harmlessLine(until)}`}`,
    ...windows.map(
      ({ name, source, used, limit, reset_at }) =>
        `  ${harmlessLine(name)} (${harmlessLine(source)}): ${countText(used)} of ${countText(limit)}${reset_at === null ? '' : `, resets at ${harmlessLine(reset_at)}`}`,
    ),
  ]);
}

function spenderLines(all: readonly Spender[], hours: number): string[] {
  const total = all.reduce((sum, { requests }) => sum + requests, 0);
  const rows = all
    .slice(0, mostSpenders)
    .map((row) => [
      ...[row.provider, row.job, row.cause, row.route].map(harmlessLine),
      countText(row.requests),
      `${Math.round((row.requests / total) * 100)} %`,
      ...amountCells(row),
    ]);
  if (rows.length === 0) return [];
  const more = all.length - rows.length;
  return [
    '',
    `Requests by job, in the last ${hours === 1 ? 'hour' : `${hours} hours`}:`,
    ...columns(['PROVIDER', 'JOB', 'CAUSE', 'ROUTE', 'REQUESTS>', 'SHARE>', ...amountTitles], rows),
    ...(more === 0 ? [] : [`and ${countText(more)} more; --json has them all`]),
  ];
}

const amountTitles = ['FAILED>', 'SIZE>', 'MEAN TIME>'];

function amountCells({
  failed,
  bytes,
  mean_latency_ms,
}: Pick<Provider, 'failed' | 'bytes' | 'mean_latency_ms'>): string[] {
  return [countText(failed), sizeText(bytes), mean_latency_ms === null ? '-' : durationText(mean_latency_ms)];
}
