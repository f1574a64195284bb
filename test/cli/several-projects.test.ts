// @module-tag full
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/clock/clock.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Workflow } from '../../src/core/workflow.ts';
import { guardedSource } from '../../src/daemon/guarded-source.ts';
import { fairShares } from '../../src/daemon/projects/fair-shares.ts';
import type { ProjectPlaces } from '../../src/daemon/projects/find-clash.ts';
import { findClash, findSameFile } from '../../src/daemon/projects/find-clash.ts';
import { keepProjects, type ProjectToRun } from '../../src/daemon/projects/keep-projects.ts';
import { logOnce } from '../../src/daemon/projects/log-once.ts';
import { shareSignals } from '../../src/daemon/projects/shared-signals.ts';
import type { SignalPlan } from '../../src/daemon/stop-on-signal.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { until } from '../process/real-children.ts';
import {
  addIssue,
  answer,
  boardWorkflow,
  liveTest,
  refusal,
  soon,
  startDaemon,
  stopDaemon,
  untilDone,
} from './live-daemon.ts';
import { baton, jsonLines, leaveNoPlaces, Place, type RunningBaton, startBaton, workflowText } from './run-baton.ts';

leaveNoPlaces();

describe('two projects of one Baton', () => {
  const ground = (name: string, more: Partial<ProjectPlaces> = {}): ProjectPlaces => ({
    workflow: `/${name}/WORKFLOW.md`,
    project: name,
    store: `/state/${name}/baton.db`,
    isStoreForOne: true,
    roots: [`/ws/${name}`],
    kept: [`/state/${name}`],
    ...more,
  });
  const shared = { store: 'postgres://db:5432/baton', isStoreForOne: false };

  const rows: readonly [what: string, left: ProjectPlaces, right: ProjectPlaces, clash: string | null][] = [
    ['of different folders', ground('a'), ground('b'), null],
    ['of the same name in different stores', ground('a'), ground('b', { project: 'a' }), null],
    ['of different names in one PostgreSQL', ground('a', shared), ground('b', shared), null],
    ['of one name in one PostgreSQL', ground('a', shared), ground('b', { ...shared, project: 'a' }), 'same_project'],
    ['in one SQLite file', ground('a'), ground('b', { store: '/state/a/baton.db' }), 'same_store'],
    ['with the same workspaces', ground('a'), ground('b', { roots: ['/ws/a'] }), 'shared_workspaces'],
    [
      'with workspaces inside those of the other',
      ground('a'),
      ground('b', { roots: ['/ws/a/b/c'] }),
      'shared_workspaces',
    ],
    ['with the root of all files', ground('a'), ground('b', { roots: ['/'] }), 'shared_workspaces'],
    [
      'with an earlier root that is shared',
      ground('a', { roots: ['/x', '/y'] }),
      ground('b', { roots: ['/y/b'] }),
      'shared_workspaces',
    ],
    ['with names that only begin alike', ground('a'), ground('b', { roots: ['/ws/a-b'] }), null],
    ['with a name that begins with two dots', ground('a'), ground('b', { roots: ['/ws/..a'] }), null],
    ['with a name of two dots inside', ground('a'), ground('b', { roots: ['/ws/a/..b'] }), 'shared_workspaces'],
    [
      'with the state of one where the other works',
      ground('a', { kept: ['/ws/b/state'] }),
      ground('b'),
      'state_inside',
    ],
  ];

  it.each(rows)('%s: whether they clash, in either order', (_what, left, right, clash) => {
    for (const error of [findClash(left, right), findClash(right, left)]) {
      expect(error?.details.clash ?? null).toBe(clash);
      if (error === null) continue;
      expect(error.details.workflows).toEqual(expect.arrayContaining([left.workflow, right.workflow]));
      expect(error.code).toBe(clash === 'state_inside' ? 'state_inside_workspaces' : 'projects_clash');
    }
  });

  it('are distinguished by the real file', () => {
    const file = (workflow: string, real = workflow) => ({ workflow, real });
    expect(findSameFile([file('/a'), file('/b'), file('/c')])).toBeNull();
    expect(findSameFile([file('/a'), file('/b'), file('/c', '/a')])).toMatchObject({
      code: 'projects_clash',
      details: { clash: 'same_file', workflows: ['/a', '/c'] },
    });
  });

  it('share slots evenly, and leave none unused', () => {
    const wish = fc.record({ held: fc.nat(4), wanted: fc.nat(6) });
    fc.assert(
      fc.property(fc.array(wish, { minLength: 1, maxLength: 5 }), fc.nat(20), (wishes, limit) => {
        const shares = fairShares(wishes, limit);
        const all = wishes.map((each, index) => ({ ...each, share: shares[index] ?? -1 }));
        const sum = (pick: (each: (typeof all)[number]) => number): number =>
          all.reduce((is, each) => is + pick(each), 0);
        const free = Math.max(0, limit - sum(({ held }) => held));
        expect(sum(({ share }) => share)).toBe(
          Math.min(
            free,
            sum(({ wanted }) => wanted),
          ),
        );
        for (const one of all) {
          expect(one.share).toBeGreaterThanOrEqual(0);
          expect(one.share).toBeLessThanOrEqual(one.wanted);
          const poorer = all.filter(
            ({ share, wanted, held }) => share < wanted && held + share + 1 < one.held + one.share,
          );
          if (one.share > 0) expect(poorer).toEqual([]);
        }
      }),
    );
  });
});

describe('an edit that clashes with another project', () => {
  it('is reported once and changes nothing; after a fix it is in force', () => {
    let revision = 'good';
    const log = memoryLogger();
    const source = { read: () => ({ workflow: { revision } as Workflow, problem: null }) };
    const accept = (workflow: Workflow): void => {
      if (workflow.revision.startsWith('bad')) throw new BatonError('invalid_workflow_config', workflow.revision);
    };
    const guarded = guardedSource(source, accept, log);
    const seen = (): unknown[] => {
      const { workflow, problem } = guarded.read();
      return [workflow.revision, problem?.message ?? null];
    };
    expect(seen()).toEqual(['good', null]);
    revision = 'bad';
    expect([seen(), seen()]).toEqual([
      ['good', 'bad'],
      ['good', 'bad'],
    ]);
    revision = 'bad again';
    expect(seen()).toEqual(['good', 'bad again']);
    revision = 'good';
    expect(seen()).toEqual(['good', null]);
    revision = 'better';
    expect(seen()).toEqual(['better', null]);
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(2);
    revision = 'bad from the start';
    expect(() => guardedSource(source, accept, log)).toThrow('bad from the start');
  });
});

describe('keeping projects', () => {
  const broken = (message: string): BatonError => new BatonError('store_unavailable', message);

  /** Projects whose attempts end as the test says, under a simulated clock. */
  function given(...names: string[]) {
    const clock = new SimulatedClock();
    let plan: SignalPlan | undefined;
    const keep = (wanted: SignalPlan): void => {
      plan = wanted;
    };
    const signals = shareSignals({ follow: keep });
    const projects = names.map((name) => {
      const attempts: { start(): void; end(): void; fail(error: BatonError): void }[] = [];
      const told: string[] = [];
      const kept: ProjectToRun = {
        workflow: name,
        run: (onStarted) =>
          new Promise((resolve, reject) => {
            attempts.push({ start: onStarted, end: () => resolve('in_order'), fail: reject });
          }),
        reportFailure: ({ message }, when) => told.push(`${when} ${message}`),
      };
      return { kept, attempts, told, last: () => attempts.at(-1) };
    });
    const ended = keepProjects(
      projects.map(({ kept }) => kept),
      { clock, signals },
    );
    return { clock, signals, projects, ended, signal: () => plan?.stop() };
  }
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  const at = <T>(list: readonly T[], index: number): T => {
    const found = list[index];
    if (found === undefined) throw new Error(`there is no ${index}`);
    return found;
  };

  it('retries a broken one every ten seconds, one attempt at a time, reports each error once, and runs it when it is fixed', async () => {
    const { clock, projects, ended, signal } = given('good', 'bad');
    const [good, bad] = [at(projects, 0), at(projects, 1)];
    good.last()?.start();
    for (const message of ['one', 'one', 'two', 'one', 'two']) {
      bad.last()?.fail(broken(message));
      await settle();
      const before = bad.attempts.length;
      await clock.advance(9_999);
      expect(bad.attempts).toHaveLength(before);
      await clock.advance(1);
      await settle();
      expect(bad.attempts).toHaveLength(before + 1);
      // It takes its time; meanwhile there is no other.
      await clock.advance(60_000);
      expect(bad.attempts).toHaveLength(before + 1);
    }
    expect(bad.told).toEqual(['start one', 'start two']);
    bad.last()?.start();
    good.last()?.end();
    await settle();
    signal();
    bad.last()?.end();
    expect(await ended).toEqual({ how: 'in_order', hasWorked: true, broken: [] });
    expect(good.attempts).toHaveLength(1);
  });

  it('ends with every error when none can start', async () => {
    const { projects, ended } = given('a', 'b');
    at(projects, 0).last()?.fail(broken('a is bad'));
    await settle();
    at(projects, 1).last()?.fail(broken('b is bad'));
    const { hasWorked, broken: found } = await ended;
    expect(hasWorked).toBe(false);
    expect(found.map(({ workflow, error }) => [workflow, error.message])).toEqual([
      ['a', 'a is bad'],
      ['b', 'b is bad'],
    ]);
  });

  it('ends when the last running one has ended, even if one waits to be fixed', async () => {
    const { projects, ended } = given('a', 'b');
    at(projects, 0).last()?.fail(broken('a is bad'));
    at(projects, 1).last()?.start();
    await settle();
    at(projects, 1).last()?.end();
    expect(await ended).toMatchObject({ hasWorked: true, broken: [{ workflow: 'a' }] });
  });

  it('does not restart one whose end failed', async () => {
    const { clock, projects, ended } = given('a', 'b');
    for (const { last } of projects) last()?.start();
    at(projects, 0).last()?.fail(broken('cannot be closed'));
    await settle();
    await clock.advance(60_000);
    expect(at(projects, 0).attempts).toHaveLength(1);
    expect(at(projects, 0).told).toEqual(['end cannot be closed']);
    at(projects, 1).last()?.end();
    expect(await ended).toMatchObject({ hasWorked: true, broken: [] });
  });

  it('ends the waits at once on a signal', async () => {
    const { projects, ended, signal } = given('a', 'b');
    at(projects, 0).last()?.fail(broken('a is bad'));
    at(projects, 1).last()?.start();
    await settle();
    signal();
    at(projects, 1).last()?.end();
    expect(await ended).toMatchObject({ how: 'in_order', hasWorked: true });
    expect(at(projects, 0).attempts).toHaveLength(1);
  });
});

describe('signals for several projects', () => {
  it('reach every project, also a late one, and none that has ended', () => {
    let plan: SignalPlan | undefined;
    const keep = (wanted: SignalPlan): void => {
      plan = wanted;
    };
    const shared = shareSignals({ follow: keep });
    const heard: string[] = [];
    const follow = (name: string): Disposable => {
      const own = shared.share();
      own.follow({ stop: () => heard.push(`${name} stop`), endNow: () => heard.push(`${name} now`) });
      return own;
    };
    follow('a');
    follow('gone')[Symbol.dispose]();
    plan?.stop();
    shared.stop();
    follow('b');
    plan?.endNow();
    follow('c');
    expect(heard).toEqual(['a stop', 'b stop', 'a now', 'b now', 'c stop', 'c now']);
    expect(shared.stopping.aborted).toBe(true);
  });
});

describe('the log of a retried project', () => {
  it('has each line once until the project runs, and then every line', () => {
    const log = memoryLogger();
    const { logger, logAll } = logOnce(log);
    const circle: Record<string, unknown> = {};
    circle.circle = circle;
    for (let attempt = 0; attempt < 3; attempt += 1) {
      logger.child({ project: 'a' }).warn('workflow_warning', { key: 'x' });
      logger.warn('workflow_warning', { key: 'y' });
      logger.info('agent_progress', circle);
    }
    expect(log.lines).toHaveLength(3);
    logAll();
    for (const _each of [1, 2]) logger.warn('workflow_warning', { key: 'x' });
    expect(log.lines).toHaveLength(5);
  });
});

/** Names for two projects below one place. */
const [a, b] = ['a/WORKFLOW.md', 'b/WORKFLOW.md'] as const;
const of = (workflow: string): string[] => ['--workflow', workflow];
const named = (text: string, name: string): string => text.replace('{name: live}', `{name: ${name}}`);

/** The runs that have a live process just now, by the project whose workspaces it works in: seen from outside. */
function liveRuns(place: Place): { readonly a: number; readonly b: number } {
  const runs = { a: new Set<string>(), b: new Set<string>() };
  for (const pid of place.pids()) {
    const environment = environmentOf(pid);
    const [, run] = /(?:^|\0)BATON_RUN_ID=([^\0]+)/.exec(environment) ?? [];
    const [, project] = /(?:^|\0)PWD=[^\0]+\/([ab])\/workspaces\//.exec(environment) ?? [];
    if (run !== undefined && project !== undefined) (project === 'a' ? runs.a : runs.b).add(run);
  }
  return { a: runs.a.size, b: runs.b.size };
}

/** Empty when it has ended since it was found. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

const lines = (running: RunningBaton): Record<string, unknown>[] =>
  jsonLines(running.stderr().slice(0, running.stderr().lastIndexOf('\n') + 1));
const about = (running: RunningBaton, event: string): Record<string, unknown>[] =>
  lines(running).filter((line) => line.event === event);

async function untilLogged(running: RunningBaton, event: string, times = 1): Promise<void> {
  await until(() => about(running, event).length >= times || running.child.exitCode !== null, event);
  expect(running.child.exitCode, running.stderr()).toBeNull();
}

describe.concurrent('baton start with several files', liveTest, () => {
  // @conforms projects.2
  it('gives the slots of a project without issues to the other, and the next one back when it has some', async () => {
    using place = new Place();
    for (const name of ['a', 'b']) place.write(`${name}/WORKFLOW.md`, named(boardWorkflow(), name));
    for (const _each of [1, 2, 3]) await addIssue(place, untilDone, ...of(a));
    const running = startBaton(place, a, b, '--max-agents', '2');
    await soon(() => expect(liveRuns(place)).toEqual({ a: 2, b: 0 }));
    await addIssue(place, untilDone, ...of(b));
    await soon(async () => {
      const { status } = await answer(place, 'status', ...of(b));
      expect(status.skipped).toMatchObject([{ code: 'global_full' }]);
    });
    place.write('a/workspaces/BAT-1/done', '');
    await soon(() => expect(liveRuns(place)).toEqual({ a: 1, b: 1 }));

    // Each is told by its own workflow file, and ends alone.
    await answer(place, 'drain', ...of(a));
    for (const issue of ['BAT-1', 'BAT-2', 'BAT-3'])
      if (readdirSync(path.join(place.folder, 'a/workspaces')).includes(issue))
        place.write(`a/workspaces/${issue}/done`, '');
    await untilLogged(running, 'project_stopped');
    expect(liveRuns(place)).toEqual({ a: 0, b: 1 });
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0, stdout: '' });
    expect(place.pids()).toEqual([]);

    const log = lines(running);
    expect(log.at(-1)).toMatchObject({ event: 'baton_stopped' });
    for (const event of ['run_started', 'orchestrator_started', 'orchestrator_stopping'])
      expect(new Set(about(running, event).map(({ project }) => project))).toEqual(new Set(['a', 'b']));
    const [start] = about(running, 'baton_starting');
    const logs = String(start?.logs);
    expect(path.basename(logs)).toMatch(/^a-[0-9a-f]{12}$/);
    expect(jsonLines(readFileSync(path.join(logs, 'log', 'baton.log'), 'utf8')).at(-1)).toMatchObject({
      event: 'baton_stopped',
    });
  });

  // @conforms projects.1
  it('runs two projects with many issues at the same time, never above the limit', async () => {
    using place = new Place();
    const many = Array.from({ length: 5 }, (_each, index) => ({
      identifier: `T-${index}`,
      title: 'T',
      id: `id-${index}`,
    }));
    for (const name of ['a', 'b']) {
      place.write(`${name}/issues.json`, JSON.stringify(many));
      place.write(`${name}/WORKFLOW.md`, workflowText('echo run >> ../../runs.txt; sleep 0.3'));
    }
    const running = startBaton(place, 'start', a, b, '--max-agents', '2');
    const count = (name: string): number => {
      try {
        return place.read(`${name}/runs.txt`).split('\n').length - 1;
      } catch {
        return 0;
      }
    };
    const seen: { a: number; b: number }[] = [];
    await soon(() => {
      seen.push(liveRuns(place));
      expect(Math.min(count('a'), count('b'))).toBeGreaterThanOrEqual(4);
    });
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(place.pids()).toEqual([]);
    expect(Math.max(...seen.map((each) => each.a + each.b))).toBe(2);
    expect(seen.some((each) => each.a === 1 && each.b === 1)).toBe(true);
    expect(Math.abs(count('a') - count('b'))).toBeLessThanOrEqual(3);
  });

  // @conforms projects.3
  it('reports a broken one with code and path while others work, and adds it when it is fixed', async () => {
    using place = new Place();
    place.write(a, named(boardWorkflow(), 'a'));
    place.write(b, '---\ntracker: [}\n---\n');
    await addIssue(place, untilDone, ...of(a));
    const running = startBaton(place, b, a);
    await soon(() => expect(liveRuns(place)).toEqual({ a: 1, b: 0 }));
    const cannot = 'project_waiting';
    await untilLogged(running, cannot);
    expect(about(running, cannot)).toMatchObject([
      { workflow: path.join(place.folder, b), error: { code: 'workflow_parse_error' } },
    ]);
    // Mended, but in the way of the other: that is another error.
    place.replace(b, named(boardWorkflow(), 'b').replace('root: workspaces', 'root: ../a/workspaces/BAT-1'));
    await untilLogged(running, cannot, 2);
    expect(about(running, cannot)[1]).toMatchObject({ error: { details: { clash: 'shared_workspaces' } } });
    // Without isolation its edits wait for a person.
    const open = named(boardWorkflow(), 'b').replace('isolation_write: [.]', 'isolation: none');
    place.replace(b, open);
    await soon(async () => expect(await answer(place, 'status', ...of(b))).toMatchObject({ status: { running: [] } }));
    expect(about(running, cannot)).toHaveLength(2);
    // An edit under way that would mix their tickets is a bad edit.
    place.replace(b, open.replace('root: workspaces', 'root: ../a'));
    expect((await refusal(place, 'reload', ...of(b))).details).toMatchObject({ code: 'projects_clash' });
    await untilLogged(running, 'workflow_change_refused');
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(place.pids()).toEqual([]);
  });

  // @conforms projects.4
  it('adds a project that another daemon had when it is free, and ends one alone whose state folder is deleted', async () => {
    using place = new Place();
    for (const name of ['a', 'b']) place.write(`${name}/WORKFLOW.md`, named(boardWorkflow(), name));
    const other = await startDaemon(place, b);
    const running = startBaton(place, b, a);
    const cannot = 'project_waiting';
    await untilLogged(running, cannot);
    expect(about(running, cannot)).toMatchObject([
      { workflow: path.join(place.folder, b), error: { code: 'store_in_use', details: { pid: other.child.pid } } },
    ]);
    await stopDaemon(other);
    await untilLogged(running, 'project_starting', 2);
    const [folder] = readdirSync(path.join(place.state, 'baton')).filter((name) => name.startsWith('a-'));
    renameSync(path.join(place.state, 'baton', String(folder)), path.join(place.folder, 'taken'));
    const hasEnded = 'project_stopped';
    await untilLogged(running, hasEnded);
    expect(about(running, hasEnded)).toMatchObject([{ project: 'a' }]);
    await answer(place, 'drain', ...of(b));
    expect(await running.ended).toMatchObject({ code: 0, signal: null });
    expect(place.pids()).toEqual([]);
    expect(lines(running).at(-1)).toMatchObject({ event: 'baton_stopped' });
  });

  // @conforms projects.6
  it('ends the agents of all projects at once on a second signal, with exit code 1', async () => {
    using place = new Place();
    for (const name of ['a', 'b']) {
      place.write(`${name}/issues.json`, JSON.stringify([{ identifier: 'T-1', title: 'T', id: 'id-1' }]));
      place.write(`${name}/WORKFLOW.md`, workflowText(`trap '' TERM; while :; do sleep 1; done`));
    }
    const running = startBaton(place, a, b);
    await soon(() => expect(liveRuns(place)).toEqual({ a: 1, b: 1 }));
    running.child.kill('SIGTERM');
    await untilLogged(running, 'run_stopping', 2);
    // A signal that comes sooner is taken for the same wish, heard twice.
    await sleep(systemClock, 600);
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 1, signal: null });
    expect(place.pids()).toEqual([]);
  });

  it('reports each error with exit code 1 when none can start, and leaves nothing behind', async () => {
    using place = new Place();
    place.write(b, '---\ntracker: {kind: nothing}\n---\n');
    const { code, stdout, stderr } = await baton(place, 'nowhere/WORKFLOW.md', b);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    for (const part of [
      'missing_workflow_file',
      path.join(place.folder, 'nowhere/WORKFLOW.md'),
      'unsupported_tracker_kind',
      path.join(place.folder, b),
    ])
      expect(stderr).toContain(part);
    const json = await baton(place, 'nowhere/WORKFLOW.md', b, '--json');
    expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 1, stderr: '' });
    expect(jsonLines(json.stdout)).toMatchObject([
      { error: { code: 'missing_workflow_file' } },
      { error: { code: 'unsupported_tracker_kind' } },
    ]);
    expect(readdirSync(place.folder).sort()).toEqual(['b', 'home', 'tmp']);
  });

  // @conforms projects.5
  it('refuses clashing files before anything starts', async () => {
    using place = new Place();
    for (const name of ['a', 'b']) place.write(`${name}/WORKFLOW.md`, named(boardWorkflow(), name));
    mkdirSync(path.join(place.folder, 'c'));
    symlinkSync(path.join(place.folder, 'a'), path.join(place.folder, 'c', 'link'));
    expect(await refusal(place, 'start', a, b, 'c/link/WORKFLOW.md')).toMatchObject({
      code: 'projects_clash',
      details: { clash: 'same_file' },
    });
    expect(await refusal(place, 'start', a, './b/../a/WORKFLOW.md')).toMatchObject({ details: { clash: 'same_file' } });
    place.write(b, named(boardWorkflow(), 'b').replace('root: workspaces', 'root: ../c/link/workspaces/deeper'));
    expect(await refusal(place, 'start', a, b)).toMatchObject({
      code: 'projects_clash',
      details: { clash: 'shared_workspaces', workflows: [a, b].map((name) => path.join(place.folder, name)) },
    });
    expect(await refusal(place, 'start', '--dry-run', a, b)).toMatchObject({ details: { clash: 'shared_workspaces' } });
    expect(await refusal(place, 'start', a, b, '--state-dir', 'x')).toMatchObject({
      code: 'usage_error',
      next_step: expect.stringContaining('XDG_STATE_HOME'),
    });
    expect(readdirSync(place.folder).sort()).toEqual(['a', 'b', 'c', 'home', 'tmp']);
  });

  it('starts nothing after a mistyped command before a file', async () => {
    using place = new Place();
    place.write(a, named(boardWorkflow(), 'a'));
    const { code, stdout, stderr } = await baton(place, 'docter', a);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/'docter'.* doctor\b/);
    expect(readdirSync(place.folder).sort()).toEqual(['a', 'home', 'tmp']);
  });

  it('prints with --dry-run for each what would start under the limit, and the errors of the rest', async () => {
    using place = new Place();
    for (const name of ['a', 'b']) place.write(`${name}/WORKFLOW.md`, named(boardWorkflow(), name));
    for (const workflow of [a, a, a, b]) await addIssue(place, untilDone, ...of(workflow));
    const { projects } = await answer(place, 'start', '--dry-run', a, b, '--max-agents', '3');
    const short = projects.map(
      (each: { project: string; plan: { issue_identifier: string; code: string | null }[] }) => [
        each.project,
        ...each.plan.map(({ issue_identifier, code }) => `${issue_identifier} ${code ?? 'starts'}`),
      ],
    );
    expect(short).toEqual([
      ['a', 'BAT-1 starts', 'BAT-2 starts', 'BAT-3 global_full'],
      ['b', 'BAT-1 starts'],
    ]);
    const plain = await baton(place, 'start', '--dry-run', a, 'no.md');
    expect(plain).toMatchObject({ code: 1, stderr: '' });
    expect(plain.stdout.split('\n').slice(0, 7)).toEqual([
      `${path.join(place.folder, a)} (a)`,
      ...[1, 2, 3].map((number) => expect.stringMatching(new RegExp(` BAT-${number} A title$`))),
      '',
      path.join(place.folder, 'no.md'),
      expect.stringMatching(/\[missing_workflow_file\]$/),
    ]);
    expect(place.pids()).toEqual([]);
  });

  it('limits a single project too with --max-agents', async () => {
    using place = new Place();
    place.write(a, named(boardWorkflow(), 'a'));
    for (const _each of [1, 2]) await addIssue(place, untilDone, ...of(a));
    const running = startBaton(place, a, '--max-agents', '1');
    await soon(async () => {
      const { status } = await answer(place, 'status', ...of(a));
      expect(status).toMatchObject({ running: [{}], skipped: [{ code: 'global_full' }] });
    });
    expect(lines(running).every((line) => line.project === undefined)).toBe(true);
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0 });
  });
});
