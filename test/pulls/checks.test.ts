import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { checksVerdict } from '../../src/core/pull/pull-request.ts';
import { createRedactor } from '../../src/core/text/redact.ts';
import type { IsolationPlace } from '../../src/process/isolation/plan-isolation.ts';
import type { WantedCommand } from '../../src/pulls/checks/clean-run.ts';
import { type CheckParts, planChecks, runWaitingChecks, SkippedChecks } from '../../src/pulls/checks/run-checks.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { gitPlaces } from '../../src/workspace/git/git-places.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { isolationIn } from '../process/isolation/isolation-in.ts';
import { pidsOfDaemon, until } from '../process/real-children.ts';
import { describeIsolated } from '../security/machine.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { branch, pullScene } from './pull-scene.ts';

const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

const project = 'p';
const check = (name: string, run: string, timeoutMs = 60_000): WantedCommand => ({ name, run, timeoutMs });

/** A change in review, with the store and everything that runs its checks. */
async function scene(wanted: readonly WantedCommand[], over: Partial<CheckParts> = {}) {
  const ground = pullScene();
  const { folder, source, push, git: real } = ground;
  push(branch, { 'new.txt': 'hello\n', 'run.sh': 'echo from the commit\n' });
  const store = await openStore({
    url: `sqlite:${path.join(folder, 'baton.db')}`,
    clock: systemClock,
    mode: 'visitor',
  });
  stores.push(store);
  const change = await ground.pulls.open({ branch, base: 'main', title: '', body: '' });
  const pull = await store.pullRequests.open({
    ...{ project, issueId: 'i', identifier: 'T-1', title: '$(touch hacked) `x`', body: '', host: 'here' },
    ...{ repository: source, branch, base: 'main', at: 1, by: { kind: 'orchestrator' }, ...change },
  });
  const places = gitPlaces(path.join(folder, 'state'));
  const stop = new AbortController();
  const parts: CheckParts = {
    ...{ clock: systemClock, containment: 'marker_sweep', daemonId: systemChance.id() },
    daemonEnv: { PATH: process.env.PATH, HOME: folder, TRACKER_KEY: 'secret', OTHER: 'unknown' },
    secretEnvironment: ['TRACKER_KEY'],
    ...{
      project,
      store,
      lease: null,
      wanted,
      setup: null,
      git: real,
      places,
      logger: memoryLogger(),
      signal: stop.signal,
    },
    repo: { location: source, shown: source, isLocal: true },
    redactor: createRedactor(['planted-secret-of-the-settings']),
    ...over,
  };
  await planChecks(parts, pull);
  const results = async () =>
    (await store.checks.list(pull)).map(({ name, result, output }) => ({ name, result, output }));
  return { ...ground, store, pull, parts, stop, places, results };
}

describeIsolated('a check that needs a hidden path', {}, () => {
  it('fails with the path and the setting in its output', async () => {
    let letter = '';
    const isolate = (place: IsolationPlace) => {
      const [folder = ''] = place.workspace.split('/state/');
      letter = path.join(folder, 'home/private');
      mkdirSync(path.dirname(letter));
      writeFileSync(letter, 'canary');
      return isolationIn(folder)(place);
    };
    const over = { isolate, containment: 'user_pid_namespace' } as const;
    const { parts, results } = await scene([check('reads', 'ls new.txt && cat "$HOME/home/private"')], over);
    await runWaitingChecks(parts);
    const [{ result, output } = { result: null, output: '' }] = await results();
    expect([result, output?.startsWith('new.txt\n'), output?.includes('canary')]).toEqual(['failed', true, false]);
    const hints = (output ?? '').split('\n').filter((line) => line.startsWith('baton: '));
    expect(hints.map((line) => [line.includes(letter), line.includes('agent.isolation_read')])).toEqual([[true, true]]);
  });
});

describe('the checks of a change', () => {
  it('run on exactly its commit in a clean checkout, one after another, and are bound to it', async () => {
    const trace =
      'git rev-parse HEAD; git status --porcelain; cat new.txt; . ./run.sh; echo "$BATON_CHECK $BATON_COMMIT"';
    const { source, folder, parts, pull, store, places } = await scene([
      check('first', `${trace}; touch left`),
      check('second', 'test -e left && exit 3'),
      check('third', 'true'),
    ]);
    expect(await runWaitingChecks(parts)).toMatchObject([
      { pull: { number: 1 }, check: { name: 'first', result: 'passed', commit: pull.headCommit } },
      { check: { name: 'second', result: 'failed' } },
      { check: { name: 'third', result: 'passed' } },
    ]);
    const [first, second, third] = await store.checks.list(pull, pull.headCommit);
    expect(first?.output).toBe(`${pull.headCommit}\nhello\nfrom the commit\nfirst ${pull.headCommit}\n`);
    expect([second?.exitCode, third?.exitCode]).toEqual([3, 0]);
    expect((first?.endedAt ?? 0) <= (second?.startedAt ?? -1)).toBe(true);
    expect(readdirSync(places.scratch)).toEqual([]);
    expect([git(source, 'status', '--porcelain'), existsSync(path.join(folder, 'left'))]).toEqual(['', false]);
    expect(await runWaitingChecks(parts)).toEqual([]);
  });

  it('get the issue as variables, never as shell text, and no secret of a tracker', async () => {
    const { parts, results } = await scene([
      check('env', 'printf "%s|" "$BATON_ISSUE_TITLE" "$TRACKER_KEY" "$OTHER"; ls'),
    ]);
    await runWaitingChecks(parts);
    expect((await results())[0]?.output).toBe('$(touch hacked) `x`|||README.md\nnew.txt\nrun.sh\nsrc\n');
  });

  it('are bounded in time and in output, of which the end is kept', async () => {
    const { parts, results } = await scene([
      check('long', 'echo begin; yes filler | head -c 3000000; echo; echo the end'),
      check('slow', 'echo before; sleep 600 & sleep 600', 300),
    ]);
    await runWaitingChecks(parts);
    const [long, slow] = await results();
    expect(long).toMatchObject({ result: 'passed' });
    expect(Buffer.byteLength(long?.output ?? '')).toBeLessThanOrEqual(64 * 1024);
    expect(long?.output?.endsWith('the end\n')).toBe(true);
    expect(slow).toEqual({ name: 'slow', result: 'timed_out', output: 'before\n' });
    await until(() => pidsOfDaemon(parts.daemonId).length === 0, 'nothing that it started is left');
  });

  it('have no result when the daemon stops in the middle, and run again', async () => {
    const marker = 'started';
    const { parts, stop, results, folder, places } = await scene([
      check('once', `echo x >> "$HOME/${marker}"; test -e "$HOME/go" || sleep 600`),
    ]);
    const running = runWaitingChecks(parts);
    await until(() => existsSync(path.join(folder, marker)), 'the check runs', 30_000);
    stop.abort();
    expect(await running).toEqual([]);
    expect(await results()).toEqual([{ name: 'once', result: null, output: null }]);
    expect(readdirSync(places.scratch)).toEqual([]);
    git(folder, 'init', '-q', 'go');
    await runWaitingChecks({ ...parts, signal: new AbortController().signal });
    expect(await results()).toMatchObject([{ result: 'passed' }]);
    expect(readFileSync(path.join(folder, marker), 'utf8')).toBe('x\nx\n');
  });

  it('are run by one daemon at a time where daemons share the store, and by another when its lease is over', async () => {
    const { parts, store, pull, folder } = await scene([check('slow', 'echo ran >> "$HOME/ran"; sleep 600', 1e9)]);
    const { id } = await store.projects.ensure(project, 1);
    expect(id).toBe(project);
    const as = (owner: string, over: Partial<CheckParts> = {}) =>
      runWaitingChecks({ ...parts, lease: { owner, leaseMs: 600_000 }, ...over });
    const ran = path.join(folder, 'ran');
    const clock = new SimulatedClock();
    const first = as('first', { clock });
    await until(() => existsSync(ran), 'the check runs');
    expect(await as('second', { clock })).toEqual([]);
    // The lease ends before the first daemon can renew it, and the second takes it.
    const at = clock.now() + 600_001;
    expect(await store.projects.leaseChecks(project, 'second', { at, leaseMs: 600_000 })).toBe(true);
    let isOver = false;
    void first.finally(() => {
      isOver = true;
    });
    await clock.advance(200_000);
    // The end of a process takes time of both clocks.
    await until(() => {
      void clock.advance(1_000);
      return isOver;
    }, 'the check is ended');
    expect(await first).toEqual([]);
    expect(readFileSync(ran, 'utf8')).toBe('ran\n');
    expect(await store.checks.list(pull)).toMatchObject([{ result: null }]);
    expect(await store.projects.leaseChecks(project, 'first', { at, leaseMs: 1 })).toBe(false);
  });

  it('keep the first result when two daemons ran the same', async () => {
    const { parts, store, pull } = await scene([check('race', 'exit 1')]);
    const end = { at: 5, result: 'passed', exitCode: 0, output: 'first' } as const;
    await store.checks.end(pull, pull.headCommit, 'race', end);
    expect(await runWaitingChecks(parts)).toEqual([]);
    expect(await store.checks.list(pull)).toMatchObject([{ result: 'passed', output: 'first' }]);
  });

  it('are skipped, which is not green, when their commit no longer stands or they left the settings', async () => {
    const { parts, store, pull, results, push } = await scene([check('kept', 'true'), check('left', 'touch ran')]);
    const wanted = [check('kept', 'true')];
    await runWaitingChecks({ ...parts, wanted });
    expect(await results()).toMatchObject([{ result: 'passed' }, { result: 'skipped' }]);
    expect(checksVerdict(await store.checks.list(pull))).toBe('incomplete');
    const headCommit = push(branch, { 'b.txt': 'b\n' });
    await store.pullRequests.stand(pull, { headCommit, baseCommit: pull.baseCommit, at: 2, runId: null });
    await planChecks({ ...parts, wanted }, { ...pull, headCommit });
    const next = push(branch, { 'c.txt': 'c\n' });
    await store.pullRequests.stand(pull, { headCommit: next, baseCommit: pull.baseCommit, at: 3, runId: null });
    await runWaitingChecks({ ...parts, wanted });
    expect(await store.checks.list(pull, headCommit)).toMatchObject([{ result: 'skipped', startedAt: null }]);
  });

  it('begin after the setup of a workspace, and are skipped when it fails or the commit is gone', async () => {
    const setup = { script: 'echo made > made.txt', timeoutMs: 60_000 };
    const good = await scene([check('needs', 'cat made.txt')], { setup });
    await runWaitingChecks(good.parts);
    expect(await good.results()).toEqual([{ name: 'needs', result: 'passed', output: 'made\n' }]);
    const bad = await scene([check('needs', 'true')], { setup: { ...setup, script: 'echo no network; exit 7' } });
    await runWaitingChecks(bad.parts);
    expect(await bad.results()).toMatchObject([{ result: 'skipped', output: expect.stringContaining('no network') }]);
    const gone = await scene([check('needs', 'true')], {
      repo: { location: '/nonexistent', shown: '', isLocal: true },
    });
    await runWaitingChecks(gone.parts);
    expect(await gone.results()).toMatchObject([{ result: 'skipped' }]);
  });

  it('are tried again after they were skipped: by a new daemon and new settings at once, else later', async () => {
    const setup = { script: 'echo no network; test -e "$HOME/network"', timeoutMs: 60_000 };
    const { parts, pull, results, store, folder } = await scene([check('needs', 'true'), check('other', 'true')], {
      setup,
    });
    const clock = new SimulatedClock();
    const daemon = new SkippedChecks(clock);
    const tries = async (by: SkippedChecks = daemon, over: Partial<CheckParts> = {}): Promise<number> => {
      await by.plan({ ...parts, ...over }, [pull]);
      return (await runWaitingChecks({ ...parts, ...over })).length;
    };
    await runWaitingChecks(parts);
    expect(await results()).toMatchObject([{ result: 'skipped' }, { result: 'skipped' }]);
    expect([await tries(), await tries()]).toEqual([2, 0]);
    await clock.advance(60_000);
    expect([await tries(), await tries()]).toEqual([2, 0]);
    await clock.advance(60_000);
    expect(await tries()).toBe(0);
    expect(await tries(new SkippedChecks(clock))).toBe(2);
    const wanted = [check('needs', 'false'), check('other', 'true')];
    writeFileSync(path.join(folder, 'network'), '');
    expect(await tries(daemon, { wanted })).toBe(2);
    expect(await results()).toMatchObject([{ result: 'failed' }, { result: 'passed' }]);
    // A result stays.
    expect(await tries(new SkippedChecks(clock))).toBe(0);
    expect(await store.checks.list(pull)).toMatchObject([{ command: 'false' }, { command: 'true' }]);
  });

  it('keep no secret of the settings in their output', async () => {
    const secret = 'planted-secret-of-the-settings';
    const { parts, results } = await scene([check('tells', `echo "the key is ${secret}"; exit 1`)], {
      setup: { script: `echo ${secret}`, timeoutMs: 60_000 },
    });
    await runWaitingChecks(parts);
    expect(await results()).toEqual([{ name: 'tells', result: 'failed', output: 'the key is [secret]\n' }]);
  });

  it('are isolated as hooks are: the checkout is theirs, the objects are only read', async () => {
    const asked: IsolationPlace[] = [];
    const isolate = (place: IsolationPlace) => {
      asked.push(place);
      return null;
    };
    const { parts, places, source } = await scene([check('any', 'true')], { isolate });
    await runWaitingChecks(parts);
    expect(asked).toEqual([
      { workspace: expect.stringContaining(places.scratch), writes: [], reads: [path.join(source, '.git/objects')] },
    ]);
  });
});
