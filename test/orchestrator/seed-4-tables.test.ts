import { describe, expect, it } from 'vitest';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { claimsOf, complete, inPhases, phased, worksOf } from './pipeline/pipeline-scene.ts';
import { begun, pair, type Scene, type SceneOptions, scene } from './scene.ts';

/*
 * The tables of seed 4 about races, orphans, retries and recovery, row by row, with what Baton does. docs/conformance.md says
 * where and why Baton does something else than the row.
 */

const second = 1_000;
const person = { kind: 'person', name: 'me' } as const;
const often = settings({ intervalMs: second });

/** Another daemon on the store of one that was killed. */
async function restarted({ store, clock, tracker, kill }: Scene, options: SceneOptions = {}): Promise<Scene> {
  kill();
  const next = await scene({ settings: often, ...options, store, clock, tracker });
  await next.orchestrator.start();
  await clock.advance(0);
  return next;
}

// @conforms 4.51
describe('Seed 4, Race Condition Defense', () => {
  it.each<[string, () => Promise<void>]>([
    [
      'layer 1: of two daemons that want an issue, one gets it',
      async () => {
        const [one, other] = await pair({ issues: [issue({ id: '1' })], settings: often });
        await Promise.all([one.orchestrator.start(), other.orchestrator.start()]);
        await one.clock.advance(10 * second);
        expect([...one.started(), ...other.started()]).toEqual(['1']);
      },
    ],
    [
      'layer 1: an issue that a person moved before the claim does not start',
      async () => {
        const stage = await scene({ issues: [issue({ id: '1' })], settings: often });
        await stage.tracker.changes.moveIssue('1', 'Backlog', person);
        await stage.orchestrator.start();
        await stage.clock.advance(10 * second);
        expect(stage.started()).toEqual([]);
      },
    ],
    [
      'layer 2: an issue that became done during its run is released at the end, and not repeated',
      async () => {
        const stage = await begun({ settings: settings({ intervalMs: 3_600 * second }) });
        await stage.tracker.changes.moveIssue('1', 'Done', person);
        stage.runs[0]?.succeed();
        await stage.clock.advance(60 * second);
        expect([stage.started(), stage.orchestrator.read().retrying]).toEqual([['1'], []]);
      },
    ],
    [
      'layer 4: an issue with a live agent gets no second one, however often the daemon decides',
      async () => {
        const stage = await begun({ settings: often });
        for (let nth = 0; nth < 20; nth += 1) {
          stage.orchestrator.wake();
          await stage.clock.advance(100);
        }
        expect(stage.started()).toEqual(['1']);
      },
    ],
  ])('%s', (_row, check) => check());
});

// @conforms 4.106
describe('Seed 4, Reconcile: orphan detection', () => {
  it.each<[string, () => Promise<void>]>([
    [
      'level 1: an agent whose process is gone counts as failed',
      async () => {
        const stage = await begun({ settings: often });
        stage.runs[0]?.request.report({ kind: 'process', process: { pid: 7, startTime: 1 } });
        stage.dead.add(7);
        await stage.clock.advance(20 * second);
        expect(stage.runs[0]?.stops).toEqual(['process_gone']);
        stage.runs[0]?.end();
        await stage.clock.advance(0);
        expect(stage.orchestrator.read().retrying).toMatchObject([{ kind: 'failure' }]);
      },
    ],
    [
      'level 2: a run in the store that no daemon has is ended, and its issue continues',
      async () => {
        const first = await begun({ settings: often });
        const next = await restarted(first);
        const [run] = first.runs;
        expect(next.swept).toEqual([run?.request.runId]);
        expect((await next.store.runs.read(run?.request.runId ?? ''))?.finish).toMatchObject({
          outcome: 'interrupted',
        });
        expect(next.started()).toEqual(['1']);
      },
    ],
    [
      'level 3: an issue in progress without a run starts again',
      async () => {
        const stage = await begun({ issues: [issue({ id: '1', state: 'In Progress' })], settings: often });
        expect(stage.started()).toEqual(['1']);
      },
    ],
  ])('%s', (_row, check) => check());
});

// @conforms 4.78, 4.80
describe('Seed 4, Retry Processing', () => {
  /** A daemon with one slot, whose issue 1 waits ten seconds after a failure. */
  const waiting = async (options: SceneOptions = {}): Promise<Scene> => {
    const stage = await begun({
      settings: settings({ intervalMs: second, agent: { maxConcurrentAgents: 1 } }),
      ...options,
    });
    stage.runs[0]?.fail();
    await stage.clock.advance(second);
    return stage;
  };

  it.each<[string, () => Promise<void>]>([
    [
      'steps 1 and 6: a due retry leaves the queue and starts, with its attempt',
      async () => {
        const stage = await waiting();
        await stage.clock.advance(11 * second);
        expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
        expect(stage.orchestrator.read().retrying).toEqual([]);
      },
    ],
    [
      'step 2: an issue that is not active any more is released',
      async () => {
        const stage = await waiting();
        await stage.tracker.changes.moveIssue('1', 'Backlog', person);
        await stage.clock.advance(20 * second);
        expect([stage.runs.length, stage.orchestrator.read().retrying]).toEqual([1, []]);
      },
    ],
    [
      'step 3: the retry is for the phase that the issue is in when it is due',
      async () => {
        const stage = await inPhases();
        stage.runs[0]?.fail();
        await stage.clock.advance(second);
        expect(await stage.command('phase_move', { issue: '1', phase: 'grooming' })).toMatchObject({ status: 'done' });
        await stage.clock.advance(second);
        expect(worksOf(stage)).toEqual(['research', 'grooming']);
      },
    ],
    [
      'steps 4 and 5: without a free slot it waits, and keeps its attempt',
      async () => {
        const stage = await waiting();
        stage.tracker.put(issue({ id: '2' }));
        await stage.clock.advance(20 * second);
        expect(stage.started()).toEqual(['1', '2']);
        expect(stage.orchestrator.read().retrying).toMatchObject([{ attempt: 1 }]);
        stage.runs[1]?.succeed();
        await stage.tracker.changes.moveIssue('2', 'Done', person);
        await stage.clock.advance(5 * second);
        expect(stage.runs[2]?.request).toMatchObject({ issue: { id: '1' }, attempt: 1 });
      },
    ],
  ])('%s', (_row, check) => check());
});

describe('Seed 4, Dispatch Priority', () => {
  // Priority 1 and 2, judges and phase agents: review/judge-slots.test.ts and pipeline/order.test.ts.
  // @conforms 4.110, 4.111
  it('0: a setup, once a person asks for it; 3: workers and planners, by the priority of their issue; 4: a scan', async () => {
    const all = settings({
      intervalMs: second,
      agent: { maxConcurrentAgents: 1 },
      workspace: { repo: { location: '/project', shown: '/project', isLocal: true } },
    });
    const stage = await begun({
      settings: { ...all, scanner: { ...all.scanner, enabled: true }, planner: { ...all.planner, enabled: true } },
    });
    for (const [id, priority, labels] of [
      ['2', 3, []],
      ['3', 2, ['needs-planning']],
      ['4', 1, []],
    ] as const)
      stage.tracker.put(issue({ id, priority, labels: [...labels] }));
    for (const kind of ['scan_begin', 'setup_begin'])
      expect(await stage.command(kind)).toMatchObject({ status: 'done' });
    await stage.clock.advance(second);
    // None of them comes again within this time.
    for (let nth = 0; nth < 6; nth += 1) {
      stage.runs.at(-1)?.fail();
      await stage.clock.advance(second);
    }
    const works = stage.runs.map(({ request: { role, issue: of, task } }) =>
      task === null ? `${role} ${of.id}` : role,
    );
    expect(works).toEqual(['worker 1', 'setup', 'worker 4', 'planner 3', 'worker 2', 'scanner']);
  });
});

describe('Seed 4, Recovery Scenarios', () => {
  it.each<[string, () => Promise<void>]>([
    [
      'graceful shutdown in a tick: the health is written, and the next daemon goes on',
      async () => {
        const stage = await begun({ settings: often });
        const stopped = stage.orchestrator.stop();
        await stage.clock.advance(0);
        stage.runs[0]?.end();
        await stage.clock.advance(60 * second);
        await stopped;
        expect(stage.health.length).toBeGreaterThan(0);
        expect((await restarted(stage)).started()).toEqual(['1']);
      },
    ],
    [
      'crash in a phase transition: the claim is decided once, by the next daemon',
      async () => {
        const first = await inPhases();
        await complete(first.runs[0]);
        const next = await restarted(first, { settings: phased() });
        await next.clock.advance(20 * second);
        expect(await claimsOf(next)).toEqual(['research advanced']);
        expect(worksOf(next)).toEqual(['architecture']);
      },
    ],
    [
      'crash in reconcile: the next daemon inherits what the dead one began to inherit',
      async () => {
        const first = await begun({ settings: often });
        first.kill();
        const { store, clock, tracker } = first;
        const second = await scene({ settings: often, store, clock, tracker });
        void second.orchestrator.start();
        const third = await restarted(second);
        await clock.advance(1_000);
        expect(third.started()).toEqual(['1']);
        expect(await store.runs.unfinished(third.project)).toHaveLength(1);
      },
    ],
    [
      'crash in dispatch: an issue that was begun starts once',
      async () => {
        const first = await scene({ issues: [issue({ id: '1' })], settings: often });
        void first.orchestrator.start();
        const next = await restarted(first);
        await next.clock.advance(10 * second);
        expect(next.started()).toEqual(['1']);
      },
    ],
    [
      'restart: every run of before is ended, and its issue continues',
      async () => {
        const first = await begun({ issues: [issue({ id: '1' }), issue({ id: '2' })], settings: often });
        const next = await restarted(first);
        expect(next.started().toSorted()).toEqual(['1', '2']);
        expect(await next.store.runs.unfinished(next.project)).toHaveLength(2);
      },
    ],
    [
      'crash of an agent: it counts as a failure, and its issue is retried',
      async () => {
        const stage = await begun({ settings: often });
        stage.runs[0]?.fail('agent_exited');
        await stage.clock.advance(12 * second);
        expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
      },
    ],
    [
      'counters: they are in the store, so a restart forgives nothing',
      async () => {
        let stage = await begun({ settings: often });
        for (let nth = 0; nth < 2; nth += 1) {
          stage.runs.at(-1)?.fail();
          await stage.clock.advance(second);
          stage = await restarted(stage);
          await stage.clock.advance(30 * second);
        }
        stage.runs.at(-1)?.fail();
        await stage.clock.advance(second);
        expect(stage.orchestrator.read().held).toMatchObject([{ code: 'retries_exhausted' }]);
      },
    ],
    [
      'orphaned workspaces: the start removes that of an issue that was finished meanwhile',
      async () => {
        const first = await begun({ settings: often });
        const path = '/workspaces/T-1';
        first.runs[0]?.request.report({ kind: 'workspace', path });
        await first.clock.advance(second);
        await first.tracker.changes.moveIssue('1', 'Done', person);
        const next = await restarted(first);
        await next.clock.advance(60 * second);
        expect([next.started(), next.workspaces.removed]).toEqual([[], [path]]);
      },
    ],
    [
      'retry queue: a retry keeps its time over a restart',
      async () => {
        const first = await begun({ settings: often });
        first.runs[0]?.fail();
        await first.clock.advance(second);
        const dueAt = first.orchestrator.read().retrying[0]?.dueAt ?? expect.fail('no retry');
        const next = await restarted(first);
        await next.clock.advance(dueAt - next.clock.now() - 1);
        expect(next.started()).toEqual([]);
        await next.clock.advance(second);
        expect(next.started()).toEqual(['1']);
      },
    ],
  ])('%s', (_row, check) => check());
});
