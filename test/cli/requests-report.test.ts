import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columns } from '../../src/cli/columns.ts';
import {
  dayMs,
  hourMs,
  minuteMs,
  providerReports,
  type RequestFacts,
  spenders,
} from '../../src/daemon/services/request-report.ts';
import type { RequestBucket, RequestSum } from '../../src/store/tables/request-counts.ts';

const midnight = Date.UTC(2026, 10, 15);
const six = midnight + 6 * hourMs;

function facts(changes: Partial<RequestFacts>): RequestFacts {
  const budget = { requestsPerHour: null, requestsPerDay: null };
  return { now: six, hour: [], today: [], window: [], budget, alsoProviders: [], ...changes };
}

function bucket(count: number, changes: Partial<RequestBucket> = {}): RequestBucket {
  return { provider: 'linear', cause: 'poll', beginsAt: six - minuteMs, count, ...changes };
}

function sum(count: number, changes: Partial<RequestSum> = {}): RequestSum {
  const labels = { provider: 'linear', route: 'Poll', method: 'POST', statusClass: '2xx', job: 'tracker_poll' };
  return { ...labels, cause: 'poll', count, bytes: count * 100, latencyMs: count * 20, ...changes };
}

describe('the report of requests', () => {
  it('projects the last hour onto the rest of the UTC day', () => {
    const [report] = providerReports(facts({ hour: [bucket(10)], today: [bucket(100)] }));
    expect(report).toMatchObject({ last_hour: 10, today: 100, projected_today: 100 + 18 * 10 });
    const [late] = providerReports(
      facts({ now: midnight + dayMs - minuteMs, hour: [bucket(60)], today: [bucket(100)] }),
    );
    expect(late?.projected_today).toBe(101);
  });

  it('reports the rate of the last ten minutes, whatever came before', () => {
    const hour = [
      bucket(50, { beginsAt: six - 30 * minuteMs }),
      bucket(7, { beginsAt: six - 10 * minuteMs }),
      bucket(2, { beginsAt: six - 9 * minuteMs }),
      bucket(1, { beginsAt: six }),
    ];
    expect(providerReports(facts({ hour }))).toMatchObject([{ last_hour: 60, rate_per_hour: 18 }]);
  });

  it('keeps providers apart, and lists those of a budget or a daemon without requests', () => {
    const budget = { requestsPerHour: { github: 100 }, requestsPerDay: null };
    const reports = providerReports(
      facts({ hour: [bucket(5), bucket(3, { provider: 'other' })], budget, alsoProviders: ['linear', 'asked'] }),
    );
    expect(reports.map(({ provider, last_hour }) => [provider, last_hour])).toEqual([
      ['asked', 0],
      ['github', 0],
      ['linear', 5],
      ['other', 3],
    ]);
    expect(reports[1]).toMatchObject({
      requests: 0,
      mean_latency_ms: null,
      budgets: [{ used: 0, per_cent: 0, step: 'free' }],
    });
  });

  it.each([
    [69, 'free'],
    [70, 'warned'],
    [84, 'warned'],
    [85, 'stretched'],
    [90, 'essential_only'],
    [100, 'closed'],
    [250, 'closed'],
  ] as const)('is at %i of a hundred %s', (used, step) => {
    const budget = { requestsPerHour: 100, requestsPerDay: { linear: 100 } };
    const [report] = providerReports(facts({ hour: [bucket(used)], today: [bucket(used)], budget }));
    const names = ['requests_per_hour', 'requests_per_day'];
    expect(report?.budgets).toEqual(names.map((name) => ({ name, limit: 100, used, per_cent: used, step })));
  });

  it('keeps essential requests going when others have used nine tenths', () => {
    const budget = { requestsPerHour: 100, requestsPerDay: null };
    const step = (others: number, custody: number) =>
      providerReports(facts({ hour: [bucket(others), bucket(custody, { cause: 'running' })], budget }))[0]?.budgets[0]
        ?.step;
    expect(step(10, 84)).toBe('stretched');
    expect(step(10, 85)).toBe('essential_only');
    expect(step(89, 0)).toBe('stretched');
    expect(step(90, 0)).toBe('essential_only');
  });

  it.each(['constructor', '__proto__', 'toString'])('has no budget for a provider named %s', (provider) => {
    const budget = { requestsPerHour: { linear: 1 }, requestsPerDay: {} };
    const reports = providerReports(facts({ hour: [bucket(5, { provider })], budget }));
    expect(reports.find((each) => each.provider === provider)).toMatchObject({ last_hour: 5, budgets: [] });
  });

  it('counts refused and incomplete answers as failed, but not unchanged ones', () => {
    const classes = ['1xx', '2xx', '3xx', '4xx', '5xx', 'error'];
    const window = classes.map((statusClass) => sum(1, { statusClass }));
    expect(providerReports(facts({ window }))).toMatchObject([
      { requests: 6, failed: 3, bytes: 600, mean_latency_ms: 20 },
    ]);
  });

  it('lists the largest spender first, one row per job, cause and route, and loses nothing', () => {
    const name = fc.constantFrom('a', 'b', 'a","b', '');
    const sums = fc.array(
      fc
        .tuple(
          fc.record({ provider: name, route: name, job: name, cause: name, statusClass: name }),
          fc.integer({ min: 1, max: 1e6 }),
        )
        .map(([labels, count]) => sum(count, labels)),
    );
    fc.assert(
      fc.property(sums, (window) => {
        const rows = spenders(window);
        const total = (counts: readonly number[]): number => counts.reduce((left, right) => left + right, 0);
        expect(total(rows.map(({ requests }) => requests))).toBe(total(window.map(({ count }) => count)));
        expect(total(rows.map(({ bytes }) => bytes))).toBe(total(window.map(({ bytes }) => bytes)));
        expect(rows.map(({ requests }) => requests)).toEqual(
          rows.map(({ requests }) => requests).toSorted((left, right) => right - left),
        );
        const keys = rows.map(({ provider, job, cause, route }) => JSON.stringify([provider, job, cause, route]));
        expect(new Set(keys).size).toBe(rows.length);
      }),
    );
  });
});

it('aligns numbers right and words left, by their width on a screen', () => {
  expect(
    columns(
      ['NAME', 'N>', 'END'],
      [
        ['漢字', '1', 'x'],
        ['a', '1,000', ''],
      ],
    ),
  ).toEqual(['NAME      N  END', '漢字      1  x', 'a     1,000']);
});
