import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { RemoteView } from '../../src/daemon/remote.ts';
import { requestReport } from '../../src/daemon/services/request-report.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { RequestCount } from '../../src/store/tables/request-counts.ts';
import { fakeDaemon } from '../fake/fake-daemon.ts';
import { settings } from '../fake/settings.ts';
import { batonHere, daemonHere } from './baton-here.ts';
import { answer, boardWorkflow, liveTest, refusal, stateFolderOf } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

const minute = 60_000;
const hour = 60 * minute;

async function workplace(more = ''): Promise<Place> {
  const place = new Place();
  const polling = 'polling: {interval_ms: 3600000';
  place.write('WORKFLOW.md', boardWorkflow().replace(polling, `${polling}${more}`));
  await answer(place, 'requests');
  return place;
}

/** Counts requests of so long ago, as a daemon would. */
async function spend(place: Place, agoMs: number, times: number, change: Partial<RequestCount> = {}): Promise<void> {
  const url = `sqlite:${path.join(stateFolderOf(place), 'baton.db')}`;
  await using store = await openStore({ url, clock: systemClock, mode: 'visitor' });
  const labels = { provider: 'linear', route: 'Candidates', method: 'POST', statusClass: '2xx', job: 'tracker_poll' };
  const request = { ...labels, cause: 'poll', at: systemClock.now() - agoMs, bytes: 500, latencyMs: 40, ...change };
  await store.transaction(async ({ requestCounts }) => {
    for (let sent = 0; sent < times; sent++) await requestCounts.add(request);
  });
}

/** A daemon of this place whose limiters say this. */
async function listening(place: Place, views: readonly RemoteView[]): Promise<AsyncDisposable> {
  const requestCounts = { series: async () => [], sum: async () => [] };
  const parts = { requestCounts, views, budget: settings().polling.budget, now: systemClock.now() };
  return fakeDaemon(path.join(stateFolderOf(place), 'baton.sock'), {
    requests: (hours) => requestReport(parts, hours),
  });
}

describe.concurrent('baton requests', liveTest, () => {
  it('says that nothing was sent, and what would be counted', async () => {
    using place = await workplace();
    expect(await answer(place, 'requests')).toEqual({
      at: expect.stringMatching(/Z$/),
      daemon: false,
      hours: 24,
      budget: { requests_per_hour: null, requests_per_day: null },
      providers: [],
      spenders: [],
    });
    const { code, stdout, stderr } = await batonHere(place, 'requests');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\S.* 24 .*\n/);
    expect(stdout).not.toMatch(/\b50\b/);
    using bounded = await workplace(', budget: {requests_per_hour: 50, requests_per_day: 1000}');
    expect((await batonHere(bounded, 'requests')).stdout).toMatch(/: 50 [^\d\n]+ 1,000 [^\d\n]+\n/);
    expect(await answer(bounded, 'requests')).toMatchObject({
      budget: { requests_per_hour: 50, requests_per_day: 1_000 },
    });
    using named = await workplace(', budget: {requests_per_day: {linear: 1000}}');
    expect((await batonHere(named, 'requests')).stdout).toMatch(/^linear requests_per_day +0 +1,000 +0 % +free$/m);
  });

  // @conforms octo-6.7
  it('shows spenders, rate, projection and budget use without a daemon', async () => {
    using place = await workplace(', budget: {requests_per_hour: 50, requests_per_day: {linear: 100000}}');
    await spend(place, 0, 30);
    await spend(place, 0, 6, { job: 'runner', cause: 'turn', route: 'ById', bytes: 10_000, latencyMs: 1_000 });
    await spend(place, 0, 4, { statusClass: 'error', bytes: 0 });
    await spend(place, 3 * hour, 70, { cause: 'person' });
    await spend(place, 30 * hour, 9, { cause: 'sweep' });
    await spend(place, 0, 2, { provider: 'github', route: '/repos/:owner/:repo/issues', method: 'GET' });
    const told = await answer(place, 'requests');
    const [github, linear] = told.providers;
    expect(github).toMatchObject({ provider: 'github', last_hour: 2, requests: 2, step: 'free', windows: [] });
    expect(github.budgets).toEqual([{ name: 'requests_per_hour', limit: 50, used: 2, per_cent: 4, step: 'free' }]);
    expect(linear).toMatchObject({ last_hour: 40, rate_per_hour: 240, requests: 110, failed: 4 });
    expect(linear.mean_latency_ms).toBe(Math.round((104 * 40 + 6 * 1_000) / 110));
    expect(linear.bytes).toBe(100 * 500 + 6 * 10_000);
    // Whether three hours ago was today depends on when this runs.
    expect([40, 110]).toContain(linear.today);
    expect(linear.projected_today).toBeGreaterThanOrEqual(linear.today);
    expect(linear.projected_today).toBeLessThanOrEqual(linear.today + 40 * 24);
    expect(linear.budgets).toMatchObject([
      { name: 'requests_per_hour', limit: 50, used: 40, per_cent: 80, step: 'warned' },
      { name: 'requests_per_day', limit: 100_000, used: linear.today, per_cent: 0, step: 'free' },
    ]);
    expect(told.spenders).toMatchObject([
      { provider: 'linear', job: 'tracker_poll', cause: 'person', route: 'Candidates', requests: 70, failed: 0 },
      { provider: 'linear', job: 'tracker_poll', cause: 'poll', requests: 34, failed: 4, bytes: 15_000 },
      { provider: 'linear', job: 'runner', cause: 'turn', route: 'ById', requests: 6, mean_latency_ms: 1_000 },
      { provider: 'github', requests: 2 },
    ]);

    const lastHour = await answer(place, 'requests', '--hours', '1');
    expect(lastHour.spenders.map(({ requests }: { requests: number }) => requests)).toEqual([34, 6, 2]);
    const week = await answer(place, 'requests', '--hours', '168');
    expect(week.providers[1]).toMatchObject({ requests: 119, last_hour: 40 });

    const { stdout } = await batonHere(place, 'requests');
    expect(stdout).toMatch(/^linear +40 +\d+ +240 +[\d,]+ +110 +4 +110\.0 kB +92 ms$/m);
    expect(stdout).toMatch(/^linear requests_per_hour +40 +50 +80 % +warned: .*70 %/m);
    expect(stdout).toMatch(/^linear +tracker_poll +poll +Candidates +34 +30 % +4 +15\.0 kB +40 ms$/m);
  });

  it('shows only the largest of many spenders, and their names cannot control a terminal', async () => {
    using place = await workplace();
    for (let index = 1; index <= 20; index++) await spend(place, 0, index, { route: `/r${index}/\u001b[2J\u202eevil` });
    const { stdout } = await batonHere(place, 'requests');
    expect(stdout).toMatch(/\/r20\/\S+evil/);
    expect(stdout).not.toMatch(/\/r8\//);
    expect(stdout).toMatch(/^\D* 8 .*--json/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
    expect(stdout).not.toMatch(/[\u001b\u202e]/);
    expect((await answer(place, 'requests')).spenders).toHaveLength(20);
  });

  it("shows the state of a daemon's limiter, and leaves out missing facts", async () => {
    using place = await workplace();
    const at = Date.UTC(2026, 10, 15, 13);
    const text = 'requests: 1,300 of 1,500 are used';
    const window = { name: 'requests', source: 'announced', limit: 1_500, used: 1_300, resetAt: at } as const;
    const pressure = { step: 'stretched', spacingMs: 0, text, until: at } as const;
    {
      await using socket = await listening(place, [{ provider: 'linear', pressure, windows: [window] }]);
      expect(socket).toBeDefined();
      const told = await answer(place, 'requests');
      expect(told).toMatchObject({
        daemon: true,
        providers: [
          { provider: 'linear', requests: 0, step: 'stretched', windows: [{ name: 'requests', used: 1_300 }] },
        ],
      });
      const { stdout } = await batonHere(place, 'requests');
      expect(stdout).toMatch(new RegExp(`^\\S.* linear: ${text}, .* 2026-11-15T13:00:00\\.000Z$`, 'm'));
      expect(stdout).toMatch(/^ {2}requests \(announced\): 1,300 .* 1,500, .* 2026-11-15T13:00:00\.000Z$/m);
    }
    await using other = await listening(place, []);
    expect(other).toBeDefined();
    expect(await answer(place, 'requests')).toMatchObject({ daemon: true, providers: [] });
  });

  it.each(['0', '-1', '1.5', '169', 'all', ''])('rejects %j hours', async (hours) => {
    using place = new Place();
    place.write('WORKFLOW.md', boardWorkflow());
    const { code, stdout } = await batonHere(place, 'requests', `--hours=${hours}`, '--json');
    expect(code).toBe(2);
    expect(JSON.parse(stdout).error.code).toBe('usage_error');
  });

  it('fails without a workflow file, and creates nothing', async () => {
    using place = new Place();
    expect(await refusal(place, 'requests')).toMatchObject({ code: 'missing_workflow_file' });
  });

  it('works next to a running daemon', async () => {
    using place = await workplace();
    const daemon = await daemonHere(place);
    expect(await answer(place, 'requests')).toMatchObject({ daemon: true, spenders: [] });
    await daemon.stop();
  });
});
