import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import type { Author } from '../../src/core/issue/author.ts';
import type { BoardStatus } from '../../src/core/issue/board-status.ts';
import { engines } from '../store/engines.ts';
import { ada, type BoardScene, boardScene, theOrchestrator } from './board-scene.ts';
import type { Race } from './fixtures/board-racer.ts';

interface Racer {
  readonly to: BoardStatus;
  readonly author: Author;
}

/** Lets all racers move the same issues at once, each with its own connection. */
async function race(
  { url, board }: BoardScene,
  issueIds: readonly string[],
  racers: readonly Racer[],
): Promise<string[][]> {
  const gate = new SharedArrayBuffer(4);
  const common = { url, project: board.project, issueIds, racers: racers.length, gate };
  return Promise.all(
    racers.map((racer) => {
      const workerData: Race = { ...common, ...racer };
      const worker = new Worker(new URL('./fixtures/board-racer.ts', import.meta.url), { workerData });
      return new Promise<string[]>((resolve, reject) => worker.once('message', resolve).once('error', reject));
    }),
  );
}

async function manyIssues({ board }: BoardScene, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; number <= count; number += 1)
    ids.push((await board.create({ title: `${number}` }, ada)).issue.id);
  return ids;
}

describe.each(engines)('on $name', ({ missing, place }) => {
  it.skipIf(missing !== null)(
    'of two moves that exclude each other, exactly one is made and the other is refused',
    async () => {
      const scene = await boardScene(await place());
      const ids = await manyIssues(scene, 40);
      const [backlog = [], claimed = []] = await race(scene, ids, [
        { to: 'backlog', author: ada.author },
        { to: 'in_progress', author: theOrchestrator.author },
      ]);
      for (const [index, id] of ids.entries()) {
        const { issue, history } = await scene.board.details(id);
        expect([backlog[index], claimed[index]].toSorted()).toEqual([issue.status, 'board_move_refused'].toSorted());
        expect(history.map(({ field, to }) => (field === 'status' ? to : field))).toEqual(['created', issue.status]);
      }
    },
  );

  it.skipIf(missing !== null)('of two that claim the same issue, exactly one writes history', async () => {
    const scene = await boardScene(await place());
    const ids = await manyIssues(scene, 20);
    const claim = { to: 'in_progress', author: theOrchestrator.author } as const;
    expect(await race(scene, ids, [claim, claim])).toEqual([
      ids.map(() => 'in_progress'),
      ids.map(() => 'in_progress'),
    ]);
    for (const id of ids) expect((await scene.board.details(id)).history).toHaveLength(2);
  });

  it.skipIf(missing !== null)('of two changes that together close a cycle, at most one is made', async () => {
    const scene = await boardScene(await place());
    const { board } = scene;
    for (let round = 0; round < 20; round += 1) {
      const [a = '', b = ''] = await manyIssues(scene, 2);
      const made = await Promise.allSettled([board.block(a, b, ada), board.block(b, a, ada)]);
      expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    }
  });
});

it('decides a move that lost the race again from the current status', async () => {
  const scene = await boardScene();
  const { board, store } = scene;
  const { issue } = await board.create({ title: 'x' }, ada);
  // Another writer moves the issue between read and write of the first attempt, as can happen on PostgreSQL.
  let attempts = 0;
  const transaction = store.transaction.bind(store);
  Object.assign(store, {
    transaction: (work: Parameters<typeof transaction>[0]) =>
      transaction((tables) => {
        attempts += 1;
        if (attempts > 1) return work(tables);
        const setStatus = async (): Promise<null> => null;
        return work({ ...tables, boardIssues: { ...tables.boardIssues, setStatus } });
      }),
  });
  expect((await board.move(issue.id, 'cancelled', ada)).status).toBe('cancelled');
  expect(attempts).toBe(2);
  expect((await board.details(issue.id)).history).toHaveLength(2);
});
