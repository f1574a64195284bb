import type { Settings } from '../../../src/core/settings.ts';
import { TaskEnd } from '../../../src/runner/task-run.ts';
import type { Board } from '../../../src/tracker/board/board.ts';
import { createBoard } from '../../../src/tracker/board/board.ts';
import { createBoardTracker } from '../../../src/tracker/board/board-tracker.ts';
import { boardProfile } from '../../../src/tracker/board/profile.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { seededChance } from '../../fake/seeded-chance.ts';
import { settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { ada } from '../../tracker/board-scene.ts';
import { begun, type Scene, type SceneOptions, type StagedRun } from '../scene.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;
/** How often the job looks in these scenes, by the clock that does not jump. */
const step = 10_000;

export function scanning(scanner: Partial<Settings['scanner']> = {}): Settings {
  const all = settings({
    intervalMs: minute,
    board: { autoPromote: true },
    tracker: {
      kind: 'board',
      activeStates: boardProfile.defaultActiveStates ?? [],
      terminalStates: boardProfile.defaultTerminalStates ?? [],
      reviewStates: ['review'],
      ...(boardProfile.roleStates === undefined ? {} : { states: boardProfile.roleStates }),
    },
  });
  // Only the job of the scanner is watched; the others come seldom, so that days pass quickly.
  const jobIntervalsMs = { scanner: step, stall_check: hour, finished_agents: hour, pull_requests: hour };
  return {
    ...all,
    polling: { ...all.polling, jobIntervalsMs },
    scanner: { ...all.scanner, enabled: true, ...scanner },
  };
}

/** The real board; each issue of `backlog` is there before the daemon starts. Time begins at midnight. */
export async function boardScene(options: SceneOptions & { readonly backlog?: number } = {}) {
  const clock = options.clock ?? new SimulatedClock({ startAt: Date.UTC(2026, 0, 1) });
  const store = options.store ?? (await scratchStore(clock));
  const project = (await store.projects.ensure('test', 0)).id;
  const boardOf = (onChange: () => void, seed: number): Board =>
    createBoard({ store, project, prefix: 'BAT', clock, chance: seededChance(seed), onChange });
  const early = boardOf(() => {}, 4_000);
  for (let at = 0; at < (options.backlog ?? 0); at += 1)
    await early.create({ title: `Issue ${at}`, status: 'backlog', labels: ['proposed'] }, ada);
  const stage = await begun({
    settings: scanning(),
    ...options,
    clock,
    store,
    otherTracker: ({ wake }) => createBoardTracker(boardOf(wake, 5_000), store),
  });
  return { ...stage, board: boardOf(() => stage.orchestrator.wake(), 6_000 + (options.owner?.length ?? 0)) };
}

const said = (title: string, labels: readonly string[]) => ({
  ...{ title, description: '', criteria: [], priority: null, labels, duplicateOf: null },
});

/** An agent that always has something to propose: first far too much, then as much as it may. */
export const tries: unknown[] = [];
export async function proposes(run: StagedRun, labels: readonly string[] = []): Promise<void> {
  const { task } = run.request;
  if (task === null) return;
  const { onProposeIssues } = new TaskEnd(task).tools();
  const many = Array.from({ length: 300 }, (_, at) => said(`Idea ${run.request.runId} ${at}`, labels));
  tries.push(await onProposeIssues?.(many));
  await onProposeIssues?.(many.slice(0, task.most));
  run.request.report({ kind: 'changed', changed: false, facts: null });
  run.succeed();
}

/** Hours in which nothing happens but what Baton itself does. The job looks every ten minutes of wall time. */
export async function pass({ clock }: Pick<Scene, 'clock'>, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 10 * minute) {
    clock.jumpWall(10 * minute - step);
    await clock.advance(step);
  }
}

export const scansOf = ({ store, project }: Pick<Scene, 'store' | 'project'>) =>
  store.tasks.list(project, { kind: 'scan', limit: 100 });

export const played: Pick<SceneOptions, 'play'> = { play: (run) => void proposes(run) };
