import { describe, expect, it } from 'vitest';
import { issue } from '../../fake/issues.ts';
import { besides, type Scene, type SceneOptions } from '../scene.ts';
import { commit, inReviewMode, judged, judging, minute, reviewed, say } from './review-scene.ts';

/*
 * The tables of seed 4 about races and orphans (Race Condition Defense; Reconcile), row by row, with a judge and a worker side
 * by side: the change of issue 1 is judged while a worker has issue 2.
 */

const second = 1_000;
const person = { kind: 'person', name: 'me' } as const;
type Stage = Awaited<ReturnType<typeof judged>>;

const works = ({ runs }: Pick<Scene, 'runs'>): string[] =>
  runs.map(({ request: { role, issue: of } }) => `${role} ${of.id}`);

/** After `worker 1`, whose change is judged now. */
async function sideBySide(settings = judging(), options: SceneOptions = {}): Promise<Stage> {
  const stage = await judged(settings, options);
  stage.tracker.put(issue({ id: '2', identifier: 'T-2' }));
  stage.orchestrator.wake();
  await stage.clock.advance(5 * second);
  expect(works(stage)).toEqual(['worker 1', 'judge 1', 'worker 2']);
  return stage;
}

async function next(stage: Stage, owner = 'next'): Promise<Scene> {
  const other = await besides(stage, { settings: judging(), pullsFor: () => stage.pulls.as, owner });
  await other.orchestrator.start();
  await stage.clock.advance(0);
  return other;
}

// @conforms 4.51, 4.52, 4.60
describe('Seed 4, Race Condition Defense, with judges', () => {
  it.each<[string, () => Promise<void>]>([
    [
      'layer 1: of two daemons one starts the judge, and one the worker',
      async () => {
        const one = await judged(judging(), { isShared: true, owner: 'one' });
        const other = await next(one);
        one.tracker.put(issue({ id: '2', identifier: 'T-2' }));
        one.orchestrator.wake();
        other.orchestrator.wake();
        await one.clock.advance(minute);
        expect([...works(one), ...works(other)].toSorted()).toEqual(['judge 1', 'worker 1', 'worker 2']);
      },
    ],
    [
      'layer 2: issues that became done during their runs are released at the end, whatever the judge said',
      async () => {
        const stage = await sideBySide();
        for (const id of ['1', '2']) await stage.tracker.changes.moveIssue(id, 'Done', person);
        stage.runs[1]?.fail();
        stage.runs[2]?.succeed();
        await stage.clock.advance(10 * minute);
        const { held, retrying } = stage.orchestrator.read();
        expect([works(stage).length, held, retrying]).toEqual([3, [], []]);
      },
    ],
    [
      'layer 4: neither gets a second agent, however often the daemon decides',
      async () => {
        const stage = await sideBySide();
        for (let nth = 0; nth < 20; nth += 1) {
          stage.orchestrator.wake();
          await stage.clock.advance(100);
        }
        expect(works(stage)).toHaveLength(3);
      },
    ],
  ])('%s', (_row, check) => check());
});

// @conforms 4.53, 4.54, 4.55, 4.105, 4.106
describe('Seed 4, Reconcile: orphan detection, with judges', () => {
  it.each<[string, () => Promise<void>]>([
    [
      'level 1: each agent whose process is gone has failed, and is followed by one of its role',
      async () => {
        const stage = await sideBySide();
        for (const [at, pid] of [
          [1, 7],
          [2, 8],
        ] as const) {
          stage.runs[at]?.request.report({ kind: 'process', process: { pid, startTime: 1 } });
          stage.dead.add(pid);
        }
        await stage.clock.advance(20 * second);
        expect(stage.runs.slice(1).map(({ stops }) => stops)).toEqual([['process_gone'], ['process_gone']]);
        for (const run of stage.runs.slice(1)) run.end();
        await stage.clock.advance(0);
        expect(stage.orchestrator.read().retrying.map(({ kind }) => kind)).toEqual(['failure', 'failure']);
        await stage.clock.advance(minute);
        expect(works(stage).slice(3).toSorted()).toEqual(['judge 1', 'worker 2']);
      },
    ],
    [
      'level 2: runs in the store that no daemon has are ended, and each is followed by one of its role',
      async () => {
        const stage = await sideBySide();
        stage.kill();
        const heir = await next(stage);
        await stage.clock.advance(10 * minute);
        const ids = stage.runs.slice(1).map(({ request }) => request.runId);
        expect(heir.swept.toSorted()).toEqual(ids.toSorted());
        for (const id of ids) expect((await heir.store.runs.read(id))?.finish?.outcome).toBe('interrupted');
        expect(works(heir).toSorted()).toEqual(['judge 1', 'worker 2']);
        expect(await heir.store.counters.read({ project: heir.project, issueId: '1' })).not.toHaveProperty(
          'failures',
          1,
        );
        say(heir.runs.find(({ request }) => request.role === 'judge'));
        await stage.clock.advance(minute);
        expect(await heir.store.verdicts.list({ project: heir.project, number: 1 })).toMatchObject([
          { verdict: 'approved', commit: 'commit-1' },
        ]);
      },
    ],
    [
      'level 3: an issue in progress without a run gets its worker, and a change in review without one its judge',
      async () => {
        const stage = await inReviewMode({ settings: reviewed });
        commit(stage.runs[0], 'commit-1');
        await stage.clock.advance(minute);
        stage.kill();
        stage.tracker.put(issue({ id: '2', identifier: 'T-2', state: 'In Progress' }));
        const heir = await next(stage);
        await stage.clock.advance(minute);
        expect(works(heir).toSorted()).toEqual(['judge 1', 'worker 2']);
      },
    ],
    [
      'stalled agents are ended, and count as failures of their own roles',
      async () => {
        const stage = await sideBySide(judging({}, { stallTimeoutMs: minute }));
        await stage.clock.advance(2 * minute);
        expect(stage.runs.slice(1).map(({ stops }) => stops)).toEqual([['stalled'], ['stalled']]);
        for (const run of stage.runs.slice(1)) run.cancel();
        await stage.clock.advance(minute);
        expect(works(stage).slice(3).toSorted()).toEqual(['judge 1', 'worker 2']);
      },
    ],
  ])('%s', (_row, check) => check());
});
