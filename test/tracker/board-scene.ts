import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { type Board, createBoard } from '../../src/tracker/board/board.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { writeMigratedFile } from '../store/migrated-file.ts';

export const ada = { author: { kind: 'person', name: 'ada' } } as const;
export const aRun = { author: { kind: 'run', runId: 'run-1' } } as const;
export const theOrchestrator = { author: { kind: 'orchestrator' } } as const;

export interface BoardScene {
  readonly board: Board;
  readonly store: Store;
  readonly clock: SimulatedClock;
  readonly url: string;
  /** How many changes were reported so far. */
  changes(): number;
  close(): Promise<void>;
}

/** The location of a scene's store, and how to remove it. */
interface ScenePlace {
  readonly url: string;
  remove(): Promise<void>;
}

/** A board on its own real store, by default an SQLite file; the caller closes it. */
export async function openScene(place?: ScenePlace): Promise<BoardScene> {
  const { url, remove } = place ?? (await sqlitePlace());
  const clock = new SimulatedClock();
  const store = await openStore({ url, clock, mode: 'visitor' });
  const project = (await store.projects.ensure('test', clock.now())).id;
  let changes = 0;
  const board = createBoard({
    store,
    project,
    prefix: 'BAT',
    clock,
    chance: seededChance(1),
    onChange: () => {
      changes += 1;
    },
  });
  const close = async (): Promise<void> => {
    await store.close();
    await remove();
  };
  return { board, store, clock, url, changes: () => changes, close };
}

async function sqlitePlace(): Promise<ScenePlace> {
  const folder = await mkdtemp(path.join(tmpdir(), 'baton-board-'));
  const file = path.join(folder, 'baton.db');
  await writeMigratedFile(file);
  return {
    url: `sqlite:${file}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Like `openScene`, but closed when the test ends. */
export async function boardScene(place?: ScenePlace): Promise<BoardScene> {
  const scene = await openScene(place);
  onTestFinished(() => scene.close());
  return scene;
}
