import type { PlanDraft, Subtask } from '../../../src/core/planner/plan.ts';
import type { PlannerSettings, Settings } from '../../../src/core/settings.ts';
import type { PlanAnswer } from '../../../src/runner/runner.ts';
import type { Store } from '../../../src/store/store.ts';
import { type Board, createBoard } from '../../../src/tracker/board/board.ts';
import { createBoardTracker } from '../../../src/tracker/board/board-tracker.ts';
import { boardProfile } from '../../../src/tracker/board/profile.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { seededChance } from '../../fake/seeded-chance.ts';
import { type SettingChanges, settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { ada } from '../../tracker/board-scene.ts';
import { begun, type Scene, type SceneOptions, type StagedRun } from '../scene.ts';

export const second = 1_000;

/** The board with a planner, polled every second. */
export function planned(planner: Partial<PlannerSettings> = {}, changes: SettingChanges = {}): Settings {
  const all = settings({
    intervalMs: second,
    ...changes,
    tracker: {
      kind: 'board',
      activeStates: boardProfile.defaultActiveStates ?? [],
      terminalStates: boardProfile.defaultTerminalStates ?? [],
      reviewStates: ['review'],
      ...(boardProfile.roleStates === undefined ? {} : { states: boardProfile.roleStates }),
      ...changes.tracker,
    },
  });
  return { ...all, planner: { ...all.planner, enabled: true, ...planner } };
}

export interface PlannerScene extends Scene {
  readonly board: Board;
  /** `role identifier` of each run, in the order of their starts. */
  readonly works: () => string[];
  readonly statuses: () => Promise<Readonly<Record<string, string>>>;
}

/** The real board on the store of the orchestrator; both reach it through `through`, if given. */
export async function plannerScene(options: SceneOptions = {}): Promise<PlannerScene> {
  const clock = options.clock ?? new SimulatedClock();
  const store = options.store ?? (await scratchStore(clock));
  const seen: Store = options.through?.(store) ?? store;
  let board: Board | undefined;
  let life = 0;
  const stage = await begun({
    settings: planned(),
    ...options,
    clock,
    store,
    ...(options.through === undefined ? {} : { through: () => seen }),
    otherTracker: ({ project, wake }) => {
      life += 1;
      board = createBoard({
        store: seen,
        project,
        prefix: 'BAT',
        clock,
        chance: seededChance(900 + life),
        onChange: wake,
      });
      return createBoardTracker(board, seen);
    },
  });
  if (board === undefined) throw new Error('no board');
  const direct = createBoard({
    store,
    project: stage.project,
    prefix: 'BAT',
    clock,
    chance: seededChance(Number(options.owner?.length ?? 77) * 1_000),
    onChange: () => stage.orchestrator.wake(),
  });
  const statuses = async (): Promise<Readonly<Record<string, string>>> => {
    const all = await direct.list({ statuses: [], labels: [], limit: 100 });
    return Object.fromEntries(
      all
        .map(({ identifier, status }) => [identifier, status] as const)
        .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    );
  };
  const works = (): string[] => stage.runs.map(({ request: { role, issue } }) => `${role} ${issue.identifier}`);
  return { ...stage, board: direct, works, statuses };
}

/** A labelled issue, filed by a person. */
export async function bigIssue({ board }: Pick<PlannerScene, 'board'>, title = 'big'): Promise<string> {
  return (await board.create({ title, labels: ['needs-planning', 'backend'], priority: 2 }, ada)).issue.id;
}

export function subtask(title: string, blockedBy: readonly number[] = [], more: Partial<Subtask> = {}): Subtask {
  return {
    title,
    description: `do ${title}`,
    acceptance: [],
    priority: null,
    blockedBy,
    needsPlanning: false,
    ...more,
  };
}

export const three: PlanDraft = { summary: 'three', subtasks: [subtask('a'), subtask('b', [1]), subtask('c', [1])] };

/** The planner calls `create_subtasks`. */
export function plan(run: StagedRun | undefined, draft: PlanDraft = three): Promise<PlanAnswer> {
  if (run === undefined) throw new Error('no run');
  return run.request.plan(draft, new AbortController().signal);
}

/** The agent ends well and has changed nothing. */
export function nothingToDo(run: StagedRun | undefined): void {
  run?.request.report({ kind: 'changed', changed: false, facts: null, committed: false });
  run?.succeed();
}
