import type { PressureStep } from '../../core/requests/request-pressure.ts';
import { countText, durationText } from '../../core/text/amount-text.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Amounts, ProviderReport, Spender } from '../../daemon/services/request-figures.ts';
import { columns } from '../columns.ts';
import { sizeText } from '../workspace/size-text.ts';

/** So many are shown to people; programs get all. */
const mostSpenders = 12;

const stepWords: Readonly<Record<PressureStep, string>> = {
  free: 'free',
  warned: 'warned: 70 % or more',
  stretched: 'stretched: polls are further apart, no background reads',
  custody_only: 'custody only: nothing but what live runs need',
  closed: 'closed: nothing is sent',
};

/** What the limiter of a daemon says of a provider. */
export interface DaemonRequests {
  readonly provider: string;
  readonly step: PressureStep;
  readonly text: string;
  readonly until: string | null;
  readonly windows: readonly {
    readonly name: string;
    readonly source: string;
    readonly limit: number;
    readonly used: number;
    readonly reset_at: string | null;
  }[];
}

export function providerLines(providers: readonly ProviderReport[], hours: number): string[] {
  const titles = ['PROVIDER', 'LAST HOUR>', 'TODAY>', 'RATE AN HOUR>', 'BY MIDNIGHT UTC>', `${hours} H>`];
  return columns(
    [...titles, ...amountTitles],
    providers.map((row) => [
      harmlessLine(row.provider),
      ...[row.lastHour, row.today, row.ratePerHour, row.projectedToday, row.requests].map(countText),
      ...amountCells(row),
    ]),
  );
}

export function budgetLines(providers: readonly ProviderReport[]): string[] {
  const rows = providers.flatMap(({ provider, budgets }) =>
    budgets.map(({ name, used, limit, perCent, step }) => [
      `${harmlessLine(provider)} ${name}`,
      ...[used, limit].map(countText),
      `${countText(perCent)} %`,
      stepWords[step],
    ]),
  );
  return rows.length === 0 ? [] : ['', ...columns(['BUDGET', 'USED>', 'LIMIT>', 'SHARE>', 'STEP'], rows)];
}

/** The limits that the daemon knows: those of the service, which announces them, too. */
export function daemonLines(found: readonly DaemonRequests[]): string[] {
  return found.flatMap(({ provider, step, text, until, windows }) => [
    '',
    `The daemon on ${harmlessLine(provider)}: ${text === '' ? (stepWords[step] ?? harmlessLine(step)) : harmlessLine(text)}${until === null ? '' : `, until ${harmlessLine(until)}`}`,
    ...windows.map(
      ({ name, source, used, limit, reset_at }) =>
        `  ${harmlessLine(name)} (${harmlessLine(source)}): ${countText(used)} of ${countText(limit)}${reset_at === null ? '' : `, anew at ${harmlessLine(reset_at)}`}`,
    ),
  ]);
}

export function spenderLines(all: readonly Spender[], hours: number): string[] {
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
    `Who spent it, in the last ${hours === 1 ? 'hour' : `${hours} hours`}:`,
    ...columns(['PROVIDER', 'JOB', 'CAUSE', 'ROUTE', 'REQUESTS>', 'SHARE>', ...amountTitles], rows),
    ...(more === 0 ? [] : [`and ${countText(more)} more; --json has them all`]),
  ];
}

const amountTitles = ['FAILED>', 'SIZE>', 'MEAN TIME>'];

function amountCells({ failures, bytes, meanLatencyMs }: Amounts): string[] {
  return [countText(failures), sizeText(bytes), meanLatencyMs === null ? '-' : durationText(meanLatencyMs)];
}
