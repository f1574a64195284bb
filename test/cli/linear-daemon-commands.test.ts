// @module-tag full
import { describe, expect, it } from 'vitest';
import { atWorkUntilLet, type LinearScene, linearScene, secretKey } from './linear-scene.ts';
import { liveTest, soon, startDaemon, stopDaemon } from './live-daemon.ts';
import { baton, leaveNoPlaces, startBaton } from './run-baton.ts';

leaveNoPlaces();

/** A connection that is kept alive must not keep a command alive: Linear's stay open for a minute and more. */
const promptMs = 5_000;

/**
 * What a command answers; it must succeed. Counted is the time after its last word, so that a busy machine, which starts
 * a process in seconds, does not count.
 */
// biome-ignore lint/suspicious/noExplicitAny: each test checks the shape it is about.
async function promptly({ place }: LinearScene, ...args: string[]): Promise<any> {
  const running = startBaton(place, ...args, '--json');
  let saidAt = performance.now();
  running.child.stdout?.on('data', () => {
    saidAt = performance.now();
  });
  const { code, stdout, stderr } = await running.ended;
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  expect(performance.now() - saidAt, args.join(' ')).toBeLessThan(promptMs);
  return JSON.parse(stdout);
}

const withoutDaemon = (scene: LinearScene): void => expect(scene.place.pids()).toEqual([]);

describe.concurrent('commands about a project on Linear', liveTest, () => {
  it('without a daemon show what would start and why not, and end promptly', async () => {
    await using scene = await linearScene({ tracker: 'required_labels: [baton]' });
    const { linear } = scene;
    const labels = ['baton'];
    const ready = scene.file(['move Done'], { labels });
    const blocked = scene.file(['move Done'], { labels });
    const unlabelled = scene.file(['move Done']);
    const blocker = linear.addIssue({ state: 'Backlog' }).identifier;
    linear.relate(blocker, blocked);
    const { plan } = await promptly(scene, 'start', '--dry-run');
    expect(plan).toMatchObject([
      { issue_identifier: ready, starts: true },
      { issue_identifier: blocked, starts: false, code: 'blocked' },
      { issue_identifier: unlabelled, starts: false, code: 'missing_label' },
    ]);
    withoutDaemon(scene);
    expect(await promptly(scene, 'explain', ready.toLowerCase())).toMatchObject({ daemon: false, starts: true });
    const { gates, starts } = await promptly(scene, 'explain', blocked);
    expect(starts).toBe(false);
    expect(gates.find(({ gate }: { gate: string }) => gate === 'unblocked')).toMatchObject({
      ok: false,
      code: 'blocked',
      text: expect.stringContaining(` ${blocker} (Backlog)`),
    });
    expect(await promptly(scene, 'explain', linear.issue(unlabelled).id)).toMatchObject({ code: 'missing_label' });
    expect(linear.stateOf(ready)).toBe('Todo');
    // What commands ask for counts like everything else.
    const { spenders } = await promptly(scene, 'requests');
    const spent = spenders.map(({ job, cause, requests }: Record<string, unknown>) => [job, cause, requests]);
    expect(spent.every(([, cause]: string[]) => cause === 'person')).toBe(true);
    expect(spent.reduce((sum: number, [, , requests]: number[]) => sum + (requests ?? 0), 0)).toBe(
      linear.requests.length,
    );
  });

  it('next to a daemon show runs, requests and due jobs, and end promptly', async () => {
    await using scene = await linearScene();
    const { linear } = scene;
    const atWork = scene.file(atWorkUntilLet);
    const waits = scene.file(['move Done']);
    const blocker = linear.addIssue({ state: 'Backlog' }).identifier;
    linear.relate(blocker, waits);
    const daemon = await startDaemon(scene.place);
    await soon(async () => expect((await scene.status()).running).toMatchObject([{ last_message: 'at work' }]));
    await scene.morePolls();

    const [{ run_id: runId }] = (await scene.status()).running;
    expect(await promptly(scene, 'explain', atWork)).toMatchObject({
      daemon: true,
      code: 'claimed',
      next: expect.stringContaining(runId),
    });
    expect(await promptly(scene, 'explain', waits)).toMatchObject({
      code: 'blocked',
      reason: expect.stringContaining(` ${blocker} (Backlog)`),
    });
    expect(await promptly(scene, 'start', '--dry-run')).toMatchObject({
      plan: [
        { issue_identifier: atWork, starts: false, code: 'claimed' },
        { issue_identifier: waits, starts: false, code: 'blocked' },
      ],
    });
    const { jobs } = await promptly(scene, 'jobs');
    expect(jobs.find(({ name }: { name: string }) => name === 'tracker_poll')).toMatchObject({
      kind: 'remote',
      interval_ms: 200,
      outcome: 'ok',
      failures: 0,
    });
    const before = linear.requests.length;
    const told = await promptly(scene, 'requests');
    const after = linear.requests.length;
    const [provider] = told.providers;
    expect(provider).toMatchObject({ provider: 'linear', failed: 0, step: 'free' });
    expect(provider.windows.map(({ name, source }: Record<string, string>) => `${name} ${source}`)).toEqual([
      'requests announced',
      'complexity announced',
    ]);
    // Each request once: those counted while it was asked may be in it or not.
    expect(provider.requests).toBeGreaterThanOrEqual(before - 2);
    expect(provider.requests).toBeLessThanOrEqual(after);
    const polls = told.spenders.find(({ route }: { route: string }) => route === 'BatonChanges');
    expect(polls).toMatchObject({ job: 'tracker_poll', cause: 'poll', failed: 0 });
    expect(polls.bytes).toBeGreaterThan(0);
    await stopDaemon(daemon);
  });

  it('check the project and say what is missing', async () => {
    await using scene = await linearScene({ apiKey: '$GOOD_KEY' }, { LINEAR_API_KEY: '', GOOD_KEY: secretKey });
    const { code, stdout } = await baton(scene.place, 'doctor', 'WORKFLOW.md', '--json');
    const about = JSON.parse(stdout).findings.filter(({ check }: { check: string }) => check.startsWith('linear'));
    expect({ code, about }).toMatchObject({
      code: 0,
      about: ['linear_key', 'linear_project', 'linear_states'].map((check) => ({ check, status: 'ok' })),
    });
    expect(stdout).not.toContain(secretKey);
    scene.useWorkflow({ apiKey: '$NOT_THERE' });
    const without = await baton(scene.place, 'doctor', 'WORKFLOW.md', '--json');
    expect(without).toMatchObject({ code: 1, stdout: expect.stringContaining('missing_linear_api_token') });
    const start = await baton(scene.place, 'start', '--json');
    expect(start.code).toBe(1);
    expect(JSON.parse(start.stdout).error).toMatchObject({ code: 'missing_linear_api_token' });
    expect(scene.linear.requests.every(({ status }) => status === 200)).toBe(true);
  });

  it('--dry-run reports that Linear is down, and ends', async () => {
    await using scene = await linearScene();
    await scene.linear.goDown();
    const { code, stdout } = await baton(scene.place, 'start', '--dry-run', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'tracker_request', next_step: expect.any(String) });
    const explained = await baton(scene.place, 'explain', 'BAT-1', '--json');
    expect(explained.code).toBe(1);
    expect(JSON.parse(explained.stdout).error).toMatchObject({ code: 'tracker_request' });
    await scene.linear.comeBack();
  });
});
