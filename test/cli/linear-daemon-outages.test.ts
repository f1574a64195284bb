// @module-tag full
import { describe, expect, it } from 'vitest';
import type { Fault } from '../fake/linear/faults.ts';
import { atWorkUntilLet, linearScene, linearWorkflow, linesAbout, logOf } from './linear-scene.ts';
import { answer, liveTest, runsOf, soon, startDaemon, stopDaemon } from './live-daemon.ts';
import { leaveNoPlaces, startBaton } from './run-baton.ts';

leaveNoPlaces();

const intervalMs = 200;
/** A tracker that fails is left alone for twice as long each time, at most for `dormant_interval_ms`. */
const polling = `mode: adaptive, active_interval_ms: ${intervalMs}, dormant_interval_ms: 1500`;
const jobFailed = 'job_failed';
/** For how long a request is refused: long enough that a busy machine sees it refused. */
const refusedMs = 12_000;
/** How late a busy machine may be with what it is told. */
const lateMs = 5_000;

describe.concurrent('a daemon on an unreliable Linear', liveTest, () => {
  // @conforms linear.18
  it('continues the run while Linear is down, with few requests and log lines, and starts new issues afterwards', async () => {
    await using scene = await linearScene({ polling });
    const { linear, place } = scene;
    const atWork = scene.file([...atWorkUntilLet, 'comment Still here.', 'move Done']);
    const daemon = await startDaemon(place);
    await soon(async () => expect((await scene.status()).running).toMatchObject([{ last_message: 'at work' }]));
    const [{ run_id }] = (await scene.status()).running;
    await scene.morePolls();

    const downAt = Date.now();
    await linear.goDown();
    const meanwhile = scene.file(['move Done']);
    await soon(async () => expect((await scene.status()).polling.failures).toBeGreaterThanOrEqual(6));
    const downMs = Date.now() - downAt;
    const during = await scene.status();
    expect(during).toMatchObject({
      running: [{ issue_identifier: atWork, run_id }],
      counts: { running: 1, retrying: 0, held: 0 },
      errors: [{ error: { code: 'tracker_request', details: { provider_code: 'linear_api_request' } } }, {}],
    });
    const { providers } = await answer(place, 'requests');
    await linear.comeBack();

    await soon(() => expect(linear.stateOf(meanwhile)).toBe('Done'));
    await soon(async () =>
      expect(await scene.status()).toMatchObject({ running: [{ run_id }], polling: { failures: 0 }, errors: [] }),
    );
    scene.letGoOn(atWork);
    await soon(() => expect(linear.stateOf(atWork)).toBe('Done'));
    await soon(() => expect(scene.workspaces()).toEqual([]));
    expect(linear.commentsOf(atWork)).toHaveLength(1);
    expect((await runsOf(place)).map(({ issue_identifier, outcome }) => [issue_identifier, outcome])).toEqual([
      [atWork, 'succeeded'],
      [meanwhile, 'succeeded'],
    ]);
    await stopDaemon(daemon);

    // A failure costs less than a success, and each is told once for the poll and once for the runs that it left alone.
    const failures = linesAbout(daemon, jobFailed);
    expect(providers).toMatchObject([{ provider: 'linear', failed: expect.any(Number) }]);
    expect(providers[0].failed).toBeLessThanOrEqual(failures.length + 1);
    expect(failures.length).toBeLessThan(downMs / intervalMs / 2);
    const told = logOf(daemon).filter(({ level }) => level === 'warn' || level === 'error');
    expect(told.length).toBeLessThanOrEqual(2 * failures.length);
    const times = failures.map(({ time }) => Date.parse(String(time)));
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const gap of gaps.slice(3)) expect(gap).toBeGreaterThanOrEqual(1_400);
  });

  const refusals: readonly [string, (resetAt: number) => Fault][] = [
    ["with Linear's own RATELIMITED and a reset", (resetAt) => ({ kind: 'rate_limit', resetAt })],
    ['with 429 and a reset', (resetAt) => ({ kind: 'rate_limit', status: 429, resetAt })],
    ['with 429 and Retry-After', () => ({ kind: 'rate_limit', status: 429, retryAfterSeconds: refusedMs / 1_000 })],
  ];
  // @conforms linear.19
  it.each(refusals)(
    'waits as long as Linear asks after %s, says until when, and continues the run',
    async (_, fault) => {
      await using scene = await linearScene();
      const { linear } = scene;
      const atWork = scene.file([...atWorkUntilLet, 'move Done']);
      const daemon = await startDaemon(scene.place);
      await soon(async () => expect((await scene.status()).running).toMatchObject([{ last_message: 'at work' }]));
      const resetAt = Date.now() + refusedMs;
      linear.faults.always = fault(resetAt);
      await soon(() => expect(linear.requests.some(({ status }) => (status ?? 0) >= 400)).toBe(true));
      linear.faults.clear();
      const refusedAt = linear.requests.find(({ status }) => (status ?? 0) >= 400)?.at ?? 0;
      const meanwhile = scene.file(['move Done']);

      await soon(async () => expect(await scene.providers()).toMatchObject([{ step: 'closed' }]));
      const requests = await scene.providers();
      const { polling: told, running, jobs } = (await answer(scene.place, 'status')).status;
      expect(requests).toMatchObject([{ provider: 'linear', step: 'closed' }]);
      const until = Date.parse(requests[0]?.until ?? '');
      expect(Math.abs(until - Math.max(resetAt, refusedAt + refusedMs))).toBeLessThan(lateMs);
      expect(told).toMatchObject({ pressure: { step: 'closed', until: requests[0]?.until } });
      const poll = jobs.find(({ name }: { name: string }) => name === 'tracker_poll');
      expect(Date.parse(poll.next_due_at)).toBeGreaterThanOrEqual(until - 50);
      expect(running).toMatchObject([{ issue_identifier: atWork }]);

      await soon(() => expect(linear.stateOf(meanwhile)).toBe('Done'));
      const next = linear.requests.find(({ at }) => at > refusedAt)?.at ?? 0;
      expect(next).toBeGreaterThanOrEqual(Math.min(resetAt, refusedAt + refusedMs));
      scene.letGoOn(atWork);
      await soon(() => expect(linear.stateOf(atWork)).toBe('Done'));
      expect(await runsOf(scene.place)).toHaveLength(2);
      await stopDaemon(daemon);
    },
  );

  // @conforms linear.20
  it('stops polling for a second project with the same key when Linear refuses the first', async () => {
    await using scene = await linearScene();
    const { linear, place } = scene;
    linear.addProject({ slugId: 'second' });
    for (const [name, projectSlug] of [
      ['a', 'baton'],
      ['b', 'second'],
    ] as const)
      place.write(`${name}/WORKFLOW.md`, linearWorkflow(linear.url, { project: name, projectSlug }));
    const running = startBaton(place, 'start', 'a/WORKFLOW.md', 'b/WORKFLOW.md');
    const slugsIn = (requests: typeof linear.requests): Set<string> =>
      new Set(requests.flatMap(({ variables }) => /"(baton|second)"/.exec(JSON.stringify(variables))?.[1] ?? []));
    await soon(() => expect(slugsIn(linear.requests)).toEqual(new Set(['baton', 'second'])));

    const resetAt = Date.now() + refusedMs;
    linear.faults.next.push({ kind: 'rate_limit', status: 429, resetAt });
    await soon(() => expect(linear.requests.some(({ status }) => status === 429)).toBe(true));
    const refusedAt = linear.requests.find(({ status }) => status === 429)?.at ?? 0;
    await soon(() => expect(Date.now()).toBeGreaterThan(resetAt));
    // One of the other may have been under way when the first was refused.
    const between = linear.requests.filter(({ at }) => at > refusedAt && at < resetAt);
    expect(between.length).toBeLessThanOrEqual(1);
    for (const { at } of between) expect(at - refusedAt).toBeLessThan(lateMs);

    linear.forgetRequests();
    await soon(() => expect(slugsIn(linear.requests)).toEqual(new Set(['baton', 'second'])));
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0 });
  });
});
