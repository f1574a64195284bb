import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../src/core/settings.ts';
import type { Proposal } from '../../../src/core/task/proposal.ts';
import { isTaskId, type TaskKind, type TaskStatus, taskKinds } from '../../../src/core/task/task.ts';
import type { MemoryTracker } from '../../../src/tracker/memory/memory-tracker.ts';
import type { Tracker } from '../../../src/tracker/tracker.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { type Scene, type SceneOptions, type StagedRun, scene } from '../scene.ts';

/*
 * Seed 4, Synthetic Key Handling: whatever becomes of a run without an issue, no tracker is asked about it. An issue runs
 * next to it all the time, so that the tracker is asked about that one.
 */

const second = 1_000;
const minute = 60 * second;

/** All kinds of tasks are on, and none begins by itself. */
function everyKind(slots = 2): Settings {
  const all = settings({
    intervalMs: 10 * second,
    polling: { freshnessMs: 1 },
    agent: { maxConcurrentAgents: slots, stallTimeoutMs: 0 },
    limits: { runWallTimeMs: 0 },
    workspace: { repo: { location: '/project', shown: '/project', isLocal: true } },
  });
  return {
    ...all,
    scanner: { ...all.scanner, enabled: true, runsPerDay: 10 },
    learner: { ...all.learner, enabled: true, runsPerDay: 10, minLessons: 99 },
  };
}

const proposals: Readonly<Record<TaskKind, Proposal>> = {
  intake: { kind: 'issues', issues: [] },
  scan: { kind: 'issues', issues: [] },
  setup: { kind: 'setup', setup: null, checks: [], notes: 'n', commit: 'c', revision: 'r' },
  learn: { kind: 'learnings', learnings: [] },
};

/** The tracker of a scene, which notes every text that any of its calls is given: ids, wherever they are. */
function noting(tracker: MemoryTracker, hasSnapshots: boolean, asked: Set<string>): Tracker {
  const fetchSnapshot: Tracker['fetchSnapshot'] = async ({ states, watched }) => {
    const found = await tracker.fetchByIds(watched);
    return {
      issues: await tracker.fetchByStates(states),
      watched: new Map(watched.map((id) => [id, found.find((each) => each.id === id) ?? null])),
    };
  };
  const noted = <T extends object>(target: T, more: object = {}): T =>
    new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(more, name) ?? Reflect.get(target, name);
        if (name === 'changes') return noted(value as object);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          JSON.stringify(given, (_key, each: unknown) => {
            if (typeof each === 'string') asked.add(each);
            return each;
          });
          return Reflect.apply(value, target, given);
        };
      },
    });
  return noted<Tracker>(tracker, hasSnapshots ? { fetchSnapshot } : {});
}

interface Situation extends Scene {
  readonly kind: TaskKind;
  readonly id: string;
  readonly another: (options?: SceneOptions) => Promise<Scene>;
}

/** A daemon whose agent works on an issue, and that was asked for a task. */
async function asked(
  kind: TaskKind,
  options: SceneOptions & { readonly hasSnapshots: boolean; readonly names: Set<string> },
): Promise<Situation> {
  const { hasSnapshots, names, ...more } = options;
  const first = await scene({ issues: [issue({ id: '1' })], settings: everyKind(), ...more });
  const { clock, project, store, tracker } = first;
  const withTracker = { otherTracker: () => noting(tracker, hasSnapshots, names) };
  const stage = await scene({ settings: everyKind(), ...more, ...withTracker, clock, store, tracker });
  const note = {
    id: 'n',
    at: clock.now(),
    kind: 'note',
    author: { kind: 'person', name: 'ada' },
    body: 'Words',
  } as const;
  await store.messages.leave({ project, issueId: '1' }, note);
  await stage.orchestrator.start();
  await clock.advance(second);
  expect(stage.started()).toEqual(['1']);
  const answer = await stage.command(`${kind}_begin`, { text: 'Make it blue.' });
  await clock.advance(second);
  const another = async (options: SceneOptions = {}): Promise<Scene> => {
    const next = await scene({ settings: everyKind(), ...options, ...withTracker, clock, store, tracker });
    await next.orchestrator.start();
    await clock.advance(second);
    return next;
  };
  return { ...stage, kind, id: String(answer?.data.task), another };
}

const runOf = ({ runs }: Scene): StagedRun =>
  runs.findLast(({ request }) => isTaskId(request.issue.id)) ?? expect.fail('the task has no run');

async function answers(stage: Scene, kind: TaskKind): Promise<void> {
  await runOf(stage).request.task?.propose(proposals[kind]);
  runOf(stage).succeed();
  await stage.clock.advance(minute);
}

type Row = readonly [
  what: string,
  becomes: TaskStatus,
  play: (stage: Situation) => Promise<Scene>,
  options?: SceneOptions,
];

const rows: readonly Row[] = [
  [
    'it proposes, and its agent is polled next to the issue',
    'proposed',
    async (stage) => {
      await stage.clock.advance(2 * minute);
      await answers(stage, stage.kind);
      return stage;
    },
  ],
  [
    'slots: it waits for one, and starts when one is free',
    'proposed',
    async (stage) => {
      await stage.clock.advance(2 * minute);
      expect(stage.started()).toEqual(['1']);
      stage.runs[0]?.fail();
      await stage.clock.advance(second);
      expect(stage.started()).toEqual(['1', stage.id]);
      await answers(stage, stage.kind);
      return stage;
    },
    { settings: everyKind(1) },
  ],
  [
    'dead process: its run is ended inline, and it has failed',
    'failed',
    async (stage) => {
      runOf(stage).request.report({ kind: 'process', process: { pid: 7, startTime: 1 } });
      stage.dead.add(7);
      await stage.clock.advance(20 * second);
      expect(runOf(stage).stops).toEqual(['process_gone']);
      runOf(stage).end();
      await stage.clock.advance(2 * minute);
      return stage;
    },
  ],
  [
    'stall: its silence is no reason to stop it, as it is for the issue',
    'proposed',
    async (stage) => {
      await stage.clock.advance(3 * minute);
      expect([stage.runs[0]?.stops, runOf(stage).stops]).toEqual([['stalled'], []]);
      await answers(stage, stage.kind);
      return stage;
    },
    { settings: { ...everyKind(), agent: { ...everyKind().agent, stallTimeoutMs: minute } } },
  ],
  [
    'recovery: the next daemon on the machine finds a dead one',
    'failed',
    async (stage) => {
      stage.kill();
      const next = await stage.another();
      expect(next.swept).toContain(runOf(stage).request.runId);
      await next.clock.advance(2 * minute);
      return next;
    },
  ],
  [
    'inheritance: another daemon takes over what a dead one had',
    'failed',
    async (stage) => {
      const other = await stage.another({ owner: 'other', isShared: true });
      await other.clock.advance(minute);
      expect(other.runs).toEqual([]);
      stage.kill();
      await other.clock.advance(5 * minute);
      return other;
    },
    { owner: 'one', isShared: true },
  ],
  [
    'shutdown: it ends with its daemon, and the next one does not repeat it',
    'failed',
    async (stage) => {
      const stopped = stage.orchestrator.stop();
      await stage.clock.advance(0);
      for (const run of stage.runs) run.end();
      await stage.clock.advance(minute);
      await stopped;
      const next = await stage.another();
      await next.clock.advance(2 * minute);
      return next;
    },
  ],
  [
    'retry: it waits for the quota of its account, over a restart',
    'proposed',
    async (stage) => {
      runOf(stage).fail('agent_quota_exhausted', { resets_at: stage.clock.now() + 2 * minute });
      await stage.clock.advance(minute);
      stage.kill();
      const next = await stage.another();
      await next.clock.advance(5 * minute);
      await answers(next, stage.kind);
      return next;
    },
  ],
  [
    'a person refuses it, and its agent is stopped',
    'refused',
    async (stage) => {
      await stage.command('task_refuse', { task: stage.id });
      await stage.clock.advance(5 * second);
      expect(runOf(stage).stops).toEqual(['terminal_state']);
      runOf(stage).end();
      await stage.clock.advance(2 * minute);
      return stage;
    },
  ],
];

describe.each(taskKinds)('the key of a run of kind %s', (kind) => {
  // Each read of the tracker is of one kind or the other, and a task is the same to both.
  const ways = kind === 'intake' ? [false, true] : [true];
  // @conforms 4.57, 4.58, 4.59
  it.each(rows.flatMap((row) => ways.map((hasSnapshots) => [row[0], hasSnapshots, row] as const)))(
    'is not asked of a tracker: %s (in snapshots: %s)',
    async (_what, hasSnapshots, [, becomes, play, options]) => {
      const names = new Set<string>();
      const stage = await asked(kind, { ...options, hasSnapshots, names });
      const last = await play(stage);
      expect(await last.store.tasks.read({ project: last.project, taskId: stage.id })).toMatchObject({
        status: becomes,
      });
      // The issue goes on, and is asked for by its id.
      last.runs.findLast(({ request }) => request.issue.id === '1')?.succeed();
      await last.clock.advance(30 * second);
      const { running, retrying, waitingQuota, held } = last.orchestrator.read();
      expect([...running, ...retrying, ...waitingQuota, ...held].filter((each) => isTaskId(each.issue.id))).toEqual([]);
      expect([...names].filter(isTaskId)).toEqual([]);
      expect(names).toContain('1');
    },
  );
});
