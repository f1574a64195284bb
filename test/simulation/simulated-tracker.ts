import { sleep } from '../../src/clock/clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import { normalizeState } from '../../src/core/issue/issue.ts';
import { refuseMoved } from '../../src/tracker/refuse-moved.ts';
import type { Tracker } from '../../src/tracker/tracker.ts';
import type { Incarnation } from './incarnation.ts';
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
    fetchByIds: (ids, ask) =>
      read('tracker.fetchByIds', ask?.signal, () => [...new Set(ids)].flatMap((id) => book.get(id) ?? [])),
    changes: {
      moveIssue: (id, state, author, ask) =>
        incarnation.call('tracker.moveIssue', async () => {
          await fault(world, ask?.signal);
          await delay(world, ask?.signal);
          if (author.kind === 'orchestrator') refuseLateMove(world, id, state);
          refuseMoved({ name: id, state: book.get(id)?.state ?? '' }, ask?.from, state);
          const moved = book.move(id, state, author);
          world.trace.tell('moved', incarnation.name, id, state, author.kind);
          if (draw.tracker.chance(plan.tracker.errors / 4)) throw trouble(world);
          return moved;
        }),
      addComment: () => incarnation.call('tracker.addComment', () => fault(world, undefined)),
      changeLabels: () => Promise.reject(new BatonError('tracker_read_only', 'not simulated')),
      createChild: () => Promise.reject(new BatonError('tracker_read_only', 'not simulated')),
    },
    ...(plan.startMove ? { startMove: { from: 'Todo', to: 'In Progress' } } : {}),
  };
}

/** Like the board: does not move an issue that someone moved meanwhile. */
function refuseLateMove({ book }: World, id: string, to: string): void {
  const state = book.get(id)?.state;
  if (state === 'Todo' || state === 'In Progress' || (state === 'Review' && to === 'Todo')) return;
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
