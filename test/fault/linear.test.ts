// @module-tag full
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { atWorkUntilLet, type LinearScene, linearScene } from '../cli/linear-scene.ts';
import { answer, runsOf, startDaemon, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces, type Place } from '../cli/run-baton.ts';
import { withoutNamespaces } from '../fake/without-namespaces.ts';
import { faultTest, patiently } from './patience.ts';

leaveNoPlaces();

/** Up to four requests wait to be counted together, and one may be in progress at the kill. */
const mostLost = 5;

/** The runs that have a live process, seen from outside. */
function liveRuns(place: Place): string[] {
  const runs = place.pids().flatMap((pid) => {
    try {
      return /(?:^|\0)BATON_RUN_ID=([^\0]+)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1] ?? [];
    } catch {
      return [];
    }
  });
  return [...new Set(runs)];
}

async function countedRequests({ place }: LinearScene): Promise<number> {
  const { providers } = await answer(place, 'requests');
  return providers[0]?.requests ?? 0;
}

const untilAtWork = (scene: LinearScene): Promise<void> =>
  patiently(async () => expect((await scene.status()).running).toMatchObject([{ last_message: 'at work' }]));

describe.concurrent('a daemon on Linear that is killed', faultTest, () => {
  // @conforms linear.23
  it('in the middle of a run: the next daemon continues the same issue once, and every request stays counted', async () => {
    await using scene = await linearScene({}, withoutNamespaces);
    const { linear, place } = scene;
    const issue = scene.file(['append lives.txt', '| begun', ...atWorkUntilLet, 'comment Once.', 'move Done']);
    const first = await startDaemon(place);
    await untilAtWork(scene);
    await scene.morePolls(10);
    first.child.kill('SIGKILL');
    await first.ended;
    const [orphan] = liveRuns(place);
    expect(orphan).toBeDefined();
    const kept = await countedRequests(scene);
    // Read after the count, so that a request in progress has arrived.
    const sent = linear.requests.length;
    expect(kept).toBeGreaterThanOrEqual(sent - mostLost);
    expect(kept).toBeLessThanOrEqual(sent);

    const second = await startDaemon(place);
    await untilAtWork(scene);
    const [again, ...more] = liveRuns(place);
    expect(more).toEqual([]);
    expect(again).not.toBe(orphan);
    await scene.morePolls(10);
    expect(liveRuns(place)).toEqual([again]);
    scene.letGoOn(issue);
    await patiently(() => expect(linear.stateOf(issue)).toBe('Done'));
    await patiently(() => expect(scene.workspaces()).toEqual([]));
    expect(linear.commentsOf(issue)).toHaveLength(1);
    expect((await runsOf(place)).map(({ run_id, outcome }) => [run_id, outcome])).toEqual([
      [orphan, 'interrupted'],
      [again, 'succeeded'],
    ]);
    await stopDaemon(second);
    // The second daemon lost nothing of the first, and an orderly stop loses nothing.
    // One that the stop aborted is counted, and may never have arrived.
    const aborted = (await countedRequests(scene)) - (kept + linear.requests.length - sent);
    expect([0, 1]).toContain(aborted);
  });

  it('while Linear is down: the next daemon keeps the claim, starts nothing twice and continues when Linear is back', async () => {
    await using scene = await linearScene({
      polling: 'mode: adaptive, active_interval_ms: 200, dormant_interval_ms: 1000',
    });
    const { linear, place } = scene;
    const issue = scene.file([...atWorkUntilLet, 'move Done']);
    const first = await startDaemon(place);
    await untilAtWork(scene);
    await linear.goDown();
    await patiently(async () => expect((await scene.status()).polling.failures).toBeGreaterThanOrEqual(2));
    first.child.kill('SIGKILL');
    await first.ended;

    const second = await startDaemon(place);
    await patiently(async () => expect((await scene.status()).polling.failures).toBeGreaterThanOrEqual(3));
    // It is unknown whether the issue is still active, so nothing starts and nothing is released.
    expect(await scene.status()).toMatchObject({ running: [], retrying: [{ issue_identifier: issue }], held: [] });
    expect(liveRuns(place)).toEqual([]);
    await linear.comeBack();
    await untilAtWork(scene);
    expect(liveRuns(place)).toHaveLength(1);
    scene.letGoOn(issue);
    await patiently(() => expect(linear.stateOf(issue)).toBe('Done'));
    await stopDaemon(second);
    expect(await runsOf(place)).toHaveLength(2);
  });

  it('while Linear refuses: the next daemon knows when to ask again, and sends nothing before', async () => {
    await using scene = await linearScene();
    const { linear, place } = scene;
    const startedAt = Date.now();
    const first = await startDaemon(place);
    await scene.morePolls();
    // The next daemon has to start, and to say what it knows, before the limit ends; a busy machine takes longer.
    const resetAt = Date.now() + Math.max(15_000, 4 * (Date.now() - startedAt));
    linear.limits.exhaust(resetAt);
    await patiently(async () => expect(await scene.providers()).toMatchObject([{ step: 'closed' }]));
    first.child.kill('SIGKILL');
    await first.ended;

    const issue = scene.file(['move Done']);
    linear.forgetRequests();
    const second = await startDaemon(place);
    await patiently(async () => expect(await scene.providers()).toMatchObject([{ step: 'closed' }]));
    expect(Date.now()).toBeLessThan(resetAt);
    await patiently(() => expect(linear.stateOf(issue)).toBe('Done'));
    expect(linear.requests.filter(({ at }) => at < resetAt)).toEqual([]);
    await stopDaemon(second);
  });

  it('again and again at random points: every issue is done, and never has two agents', async () => {
    await using scene = await linearScene({ agent: 'backend: rehearsal, max_concurrent_agents: 2' }, withoutNamespaces);
    const { linear, place } = scene;
    // The lock is held while any agent of the issue lives, even one whose daemon is gone.
    const alone =
      'exec 9> ../../lock-$(basename "$PWD"); flock -n 9 || echo "$PWD" >> ../../two-at-once.txt; sleep 0.4\n';
    place.write('alone.sh', alone);
    place.write('two-at-once.txt', '');
    const steps = ['move In Progress', 'run sh ../../alone.sh', 'comment Done with it.', 'move Done'];
    const issues = Array.from({ length: 4 }, () => scene.file(steps));
    for (const delayMs of [300, 700, 1_200, 1_700]) {
      const daemon = await startDaemon(place);
      const before = Date.now();
      await patiently(() => expect(Date.now() - before).toBeGreaterThanOrEqual(delayMs));
      daemon.child.kill('SIGKILL');
      await daemon.ended;
    }
    const last = await startDaemon(place);
    await patiently(() => expect(issues.map((each) => linear.stateOf(each))).toEqual(issues.map(() => 'Done')));
    await patiently(() => expect(scene.workspaces()).toEqual([]));
    await stopDaemon(last);
    expect(place.read('two-at-once.txt')).toBe('');
    expect(place.pids()).toEqual([]);
    for (const each of issues) expect(linear.commentsOf(each).length).toBeGreaterThanOrEqual(1);
  });
});
