import { sleep } from '../../src/clock/clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import { type Blocker, type Issue, normalizeState } from '../../src/core/issue/issue.ts';
import { refuseMoved } from '../../src/tracker/refuse-moved.ts';
import type { ChildrenPlan, IssueEditor, NewIssue, Tracker } from '../../src/tracker/tracker.ts';
import type { Incarnation } from './incarnation.ts';
import { trackerStates } from './issue-book.ts';
import { blockedState } from './planner/planner-plan.ts';
import type { TaskWorld } from './tasks/task-world.ts';
import type { World } from './world.ts';

/**
 * The tracker as one incarnation sees it: late answers, outdated answers,
 * errors, silence. A requested change may be made although its answer is lost.
 */
export function simulatedTracker(world: World, incarnation: Incarnation): Tracker {
  const { book, draw, plan } = world;
  const read = <T>(name: string, signal: AbortSignal | undefined, look: () => T): Promise<T> =>
    incarnation.call(name, async () => {
      await world.sabotage.beforeTracker?.(name);
      await fault(world, signal);
      // An answer may be outdated when it arrives, or be computed just before it is sent.
      const isOld = draw.tracker.chance(0.5);
      const early = isOld ? look() : null;
      await delay(world, signal);
      return early ?? look();
    });
  return {
    kind: 'simulated',
    fetchByStates: (states, ask) =>
      read('tracker.fetchByStates', ask?.signal, () => {
        const wanted = new Set(states.map(normalizeState));
        return book.all().filter(({ state }) => wanted.has(normalizeState(state)));
      }),
    fetchByIds: async (ids, ask) => {
      // As the adapters: nothing is asked about no issue.
      if (ids.length === 0 && world.tasks !== null) return [];
      return read('tracker.fetchByIds', ask?.signal, () => {
        book.asked(...ids);
        return [...new Set(ids)].flatMap((id) => book.get(id) ?? []);
      });
    },
    ...(plan.planner === null
      ? {}
      : {
          fetchChildren: (ids, ask) =>
            read('tracker.fetchChildren', ask?.signal, () => {
              book.asked(...ids);
              return partsOf(world, ids);
            }),
        }),
    changes: {
      ...(plan.planner === null
        ? {}
        : {
            createChildren: (wanted, _author, ask) =>
              incarnation.call('tracker.createChildren', () => makeParts(world, wanted, ask?.signal)),
          }),
      ...(world.tasks === null
        ? {}
        : {
            createIssue: (draft, _author, ask) =>
              incarnation.call('tracker.createIssue', () => fileIssue(world, world.tasks, draft, ask?.signal)),
          }),
      moveIssue: (id, state, author, ask) =>
        incarnation.call('tracker.moveIssue', async () => {
          book.asked(id);
          await fault(world, ask?.signal);
          await delay(world, ask?.signal);
          if (author.kind === 'orchestrator') refuseLateMove(world, id, state);
          refuseMoved({ name: id, state: book.get(id)?.state ?? '' }, ask?.from, state);
          const moved = book.move(id, state, author);
          world.trace.tell('moved', incarnation.name, id, state, author.kind);
          if (draw.tracker.chance(plan.tracker.errors / 4)) throw trouble(world);
          return moved;
        }),
      addComment: (id) =>
        incarnation.call('tracker.addComment', () => {
          book.asked(id);
          return fault(world, undefined);
        }),
      changeLabels: (id, { add = [], remove = [] }, _author, ask) =>
        incarnation.call('tracker.changeLabels', async () => {
          book.asked(id);
          await fault(world, ask?.signal);
          await delay(world, ask?.signal);
          const isRefused = !world.isCalm && draw.pipeline.chance(plan.pipeline?.refused ?? 1);
          if (isRefused) throw new BatonError('tracker_read_only', 'The simulated tracker refuses labels.');
          const before = book.get(id)?.labels ?? [];
          const after = book.relabel(
            id,
            [...new Set([...before.filter((each) => !remove.includes(each)), ...add])],
            'baton',
          );
          world.trace.tell('labelled', incarnation.name, id, after.labels.join(' '));
          if (draw.tracker.chance(plan.tracker.errors / 4)) throw trouble(world);
          return after;
        }),
    },
    ...(plan.tasks?.scanner == null ? {} : onThisMachine(world, read)),
    ...(plan.startMove ? { startMove: { from: 'Todo', to: 'In Progress' } } : {}),
  };
}

/** As Baton's own board: free to read, with a list of its states and a backlog that Baton may promote. */
function onThisMachine(
  { book }: World,
  read: <T>(name: string, signal: AbortSignal | undefined, look: () => T) => Promise<T>,
): Pick<Tracker, 'isLocal' | 'editor'> & Partial<Tracker> {
  const byCommand = (): never => {
    throw new BatonError('tracker_read_only', 'The simulated people change issues themselves.');
  };
  const editor: IssueEditor = {
    states: [...trackerStates, blockedState],
    movesFrom: () => [],
    idOf: async () => byCommand(),
    move: async () => byCommand(),
    comment: async () => byCommand(),
    file: async () => byCommand(),
    edit: async () => byCommand(),
  };
  const isPromotable = ({ id, state, blockedBy }: Issue): boolean => {
    const isByHand = book.lastMove.get(id)?.by === 'hand';
    return state === 'Backlog' && !isByHand && blockedBy.every((blocker) => blocker.state === 'Done');
  };
  return {
    isLocal: true,
    editor,
    fetchPromotable: ({ limit, offset }, ask) =>
      read('tracker.fetchPromotable', ask?.signal, () =>
        book
          .all()
          .filter(isPromotable)
          .slice(offset, offset + limit),
      ),
  };
}

async function fileIssue(
  world: World,
  tasks: TaskWorld | null,
  draft: NewIssue,
  signal: AbortSignal | undefined,
): Promise<Issue> {
  const { book, clock, draw, plan } = world;
  if (tasks === null) throw new Error('there are no tasks');
  await fault(world, signal);
  await delay(world, signal);
  const made = tasks.file(book, draft, clock.now());
  world.trace.tell('filed for a task', made.id, draft.key);
  if (!world.isCalm && draw.tracker.chance(plan.tracker.errors / 4)) throw trouble(world);
  return made;
}

function partsOf({ book }: World, ids: readonly string[]): ReadonlyMap<string, readonly Blocker[]> {
  const all = book.all();
  const of = (parentId: string): Blocker[] =>
    all.filter(({ parent }) => parent?.id === parentId).map(({ id, identifier, state }) => ({ id, identifier, state }));
  return new Map(ids.map((id) => [id, of(id)]));
}

/** Part by part, as a remote tracker: any request may fail, or be carried out and not answered. */
async function makeParts(
  world: World,
  wanted: ChildrenPlan,
  signal: AbortSignal | undefined,
): Promise<readonly Issue[]> {
  const { book, draw, plan } = world;
  const request = async (act: () => void): Promise<void> => {
    await fault(world, signal);
    await delay(world, signal);
    act();
    if (!world.isCalm && draw.tracker.chance(plan.tracker.errors / 4)) throw trouble(world);
  };
  const parent = book.get(wanted.parentId);
  if (parent === undefined)
    throw new BatonError('tracker_issue_not_found', `There is no issue with the id "${wanted.parentId}".`);
  const link = (id: string): Blocker => ({ id, identifier: id, state: null });
  for (const { id, blockedBy, ...fields } of wanted.children) {
    if (book.get(id) !== undefined) continue;
    const { id: parentId, identifier } = parent;
    await request(() => {
      book.put({
        ...parent,
        ...fields,
        id,
        identifier: id,
        state: 'Todo',
        parent: { id: parentId, identifier },
        blockedBy: blockedBy.map(link),
      });
      world.tally('part made');
    });
  }
  await request(() => {
    const now = book.get(wanted.parentId);
    if (now !== undefined)
      book.put({ ...now, blockedBy: wanted.children.map(({ id }) => link(id)), state: blockedState });
  });
  return wanted.children.flatMap(({ id }) => book.get(id) ?? []);
}

/** Like the board: does not move an issue that someone moved meanwhile. */
function refuseLateMove({ book, file }: World, id: string, to: string): void {
  const state = book.get(id)?.state;
  if (state === 'Todo' || state === 'In Progress') return;
  if ((state === 'Review' || state === blockedState) && to === 'Todo') return;
  if (state === 'Backlog' && file.settings.board.autoPromote) return;
  if (state === 'Review' && to === 'Done' && file.settings.review.autoMerge.length > 0) return;
  throw new BatonError('board_move_refused', `The issue "${id}" cannot be moved from "${state}".`);
}

async function fault(world: World, signal: AbortSignal | undefined): Promise<void> {
  const { draw, plan, weather } = world;
  signal?.throwIfAborted();
  if (world.isCalm) return;
  if (draw.tracker.chance(plan.tracker.hangs)) {
    world.count('tracker hang');
    weather.trackerHungAt = world.now;
    await sleep(world.clock, Number.MAX_SAFE_INTEGER, signal);
    throw trouble(world);
  }
  if (!draw.tracker.chance(weather.trackerStorm ? 0.8 : plan.tracker.errors)) return;
  await delay(world, signal);
  throw trouble(world);
}

function trouble(world: World): BatonError {
  world.count('tracker error');
  const code = world.draw.tracker.pick(['tracker_request', 'tracker_status', 'tracker_response'] as const);
  return new BatonError(code, 'The simulated tracker has trouble.');
}

async function delay(world: World, signal: AbortSignal | undefined): Promise<void> {
  const slowest = world.isCalm ? 200 : world.plan.tracker.slowestMs;
  if (slowest === 0 || world.draw.tracker.chance(0.3)) return;
  await sleep(world.clock, world.draw.tracker.logBetween(1, slowest), signal);
}
