import path from 'node:path';
import fc from 'fast-check';
import { CompiledQuery } from 'kysely';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { done } from '../../src/core/command/command-answers.ts';
import { migrate } from '../../src/store/migrations/migrate.ts';
import { openStore } from '../../src/store/open-store.ts';
import { openSqlite } from '../../src/store/sqlite/open-sqlite.ts';
import { type Store, storeOver } from '../../src/store/store.ts';
import { onEngine, project } from '../conformance/store.ts';
import { runs } from '../property-runs.ts';
import { engines, scratchFolder } from './engines.ts';
import { pullDraft } from './pull-draft.ts';

const author = { kind: 'orchestrator' } as const;
const draft = (id: string, over: { readonly project?: string } = {}) => ({
  id,
  project,
  kind: 'k',
  payload: {},
  author,
  at: 1,
  key: null,
  ...over,
});
const result = { at: 2, ...done('paused', '') };
const waitingIn = async (store: Store, of = project) => (await store.commands.waiting(of, 99)).map(({ id }) => id);

for (const engine of engines) {
  onEngine(engine, 'knows the waiting commands', ({ open, place }) => {
    it('also after none waited before, whichever process wrote them and in whatever way', async () => {
      const where = await place();
      const [store, other] = [await open(where, 'daemon'), await open(where)];
      expect(await waitingIn(store)).toEqual([]);
      expect(await waitingIn(store)).toEqual([]);
      await store.commands.submit(draft('own'));
      expect(await waitingIn(store)).toEqual(['own']);
      await store.commands.finish('own', result);
      expect(await waitingIn(store)).toEqual([]);
      await other.commands.submit(draft('of another'));
      expect(await waitingIn(store)).toEqual(['of another']);
      await other.commands.finish('of another', result);
      expect(await waitingIn(store)).toEqual([]);
      await store.transaction(({ commands }) => commands.submit(draft('in a transaction')));
      expect(await waitingIn(store)).toEqual(['in a transaction']);
      await where.query("update commands set result_at = 3, result_status = 'done' where result_at is null");
      expect(await waitingIn(store)).toEqual([]);
      await where.query("update commands set result_at = null where id = 'own'");
      expect(await waitingIn(store)).toEqual(['own']);
      await other.commands.finish('own', result);
      expect([await waitingIn(store), await waitingIn(store, 'beta')]).toEqual([[], []]);
      await store.commands.submit(draft('elsewhere', { project: 'beta' }));
      expect([await waitingIn(store), await waitingIn(store, 'beta')]).toEqual([[], ['elsewhere']]);
    });

    it('and in the same way the last command done and the open pull requests', async () => {
      const where = await place();
      const [store, other] = [await open(where, 'daemon'), await open(where)];
      const known = async () => ({
        done: (await store.commands.latestDone(project, ['k']))?.id ?? null,
        open: (await store.pullRequests.allOpen(project)).map(({ number }) => number),
      });
      expect(await known()).toEqual({ done: null, open: [] });
      await other.commands.submit(draft('c1'));
      await other.commands.finish('c1', result);
      const first = await other.pullRequests.open(pullDraft('1'));
      expect(await known()).toEqual({ done: 'c1', open: [1] });
      await store.transaction(async ({ commands, pullRequests }) => {
        await commands.submit(draft('c2'));
        await commands.finish('c2', result);
        await pullRequests.open(pullDraft('2'));
      });
      expect(await known()).toEqual({ done: 'c2', open: [1, 2] });
      await where.query(`update pull_requests set closed_at = 3 where number = ${first.number}`);
      expect([await known(), (await store.pullRequests.allOpen('beta')).length]).toEqual([
        { done: 'c2', open: [2] },
        0,
      ]);
      expect(await store.commands.latestDone(project, ['other'])).toBeNull();
    });

    it('and is not misled by a rolled-back write', async () => {
      const store = await open();
      await store.commands.submit(draft('c1'));
      const undone = store.transaction(async ({ commands }) => {
        await commands.finish('c1', result);
        expect(await commands.waiting(project, 9)).toEqual([]);
        throw new Error('taken back');
      });
      const asked = waitingIn(store);
      await expect(undone).rejects.toThrow('taken back');
      expect(await asked).toEqual(['c1']);
      expect(await waitingIn(store)).toEqual(['c1']);
      expect(await store.commands.waiting(project, 0)).toEqual([]);
      expect(await waitingIn(store)).toEqual(['c1']);
    });

    // @conforms runs.39
    it('and never misses an acknowledged one, in any order of simultaneous writes and reads', async () => {
      const where = await place();
      const stores = [await open(where, 'daemon'), await open(where)] as const;
      const [looking] = stores;
      let count = 0;
      const step = fc.record({
        by: fc.constantFrom(0, 1),
        act: fc.constantFrom('look', 'look', 'submit', 'transaction', 'finish', 'failing', 'unrelated'),
        waits: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const under: Promise<unknown>[] = [];
          const acknowledged: string[] = [];
          for (const { by, act, waits } of steps) {
            const id = `c${count++}`;
            const writing = play(stores[by] ?? looking, act, id).then((isKept) => isKept && acknowledged.push(id));
            under.push(writing);
            if (waits) await writing;
            const known = [...acknowledged];
            under.push(waitingIn(looking).then((found) => expect(found).toEqual(expect.arrayContaining(known))));
          }
          await Promise.all(under);
          const left = await waitingIn(looking);
          expect(left.toSorted()).toEqual(acknowledged.toSorted());
          for (const id of left) await stores[1].commands.finish(id, result);
          expect(await waitingIn(looking)).toEqual([]);
        }),
        { numRuns: runs(25) },
      );
    });
  });
}

/** Whether a command waits after it. */
async function play(store: Store, act: string, id: string): Promise<boolean> {
  if (act === 'submit') return (await store.commands.submit(draft(id))).created;
  if (act === 'transaction')
    return store.transaction(async (inside) => (await inside.commands.submit(draft(id))).created);
  if (act === 'unrelated') await store.counters.add({ project, issueId: 'i' }, 'n', 1);
  if (act === 'look') await waitingIn(store);
  if (act === 'finish') {
    await store.commands.submit(draft(id));
    await store.commands.finish(id, result);
  }
  if (act === 'failing')
    await store
      .transaction(async (inside) => {
        await inside.commands.submit(draft(id));
        throw new Error('no');
      })
      .catch(() => {});
  return false;
}

it('SQLite queries its tables only when a command may have been written', async () => {
  const scratch = scratchFolder();
  const file = path.join(scratch.folder, 'baton.db');
  const engine = await openSqlite(file, 'visitor', systemClock);
  await migrate(engine, 'here', systemClock);
  let asked = 0;
  const { commands, counters } = storeOver({
    ...engine,
    db: engine.db.withPlugin({
      transformQuery: ({ node }) => {
        asked += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    }),
  });
  const questions = async (): Promise<number> => {
    const before = asked;
    await commands.waiting(project, 9);
    return asked - before;
  };
  expect([await questions(), await questions()]).toEqual([1, 0]);
  await counters.add({ project, issueId: 'i' }, 'n', 1);
  expect(await questions()).toBe(0);
  await engine.db.executeQuery(CompiledQuery.raw('delete from commands'));
  expect([await questions(), await questions()]).toEqual([1, 0]);
  const other = await openStore({ url: `sqlite:${file}`, clock: systemClock, mode: 'visitor' });
  await other.counters.add({ project, issueId: 'i' }, 'n', 1);
  expect([await questions(), await questions()]).toEqual([1, 0]);
  await other.close();
  await commands.submit(draft('c1'));
  expect([await questions(), await questions()]).toEqual([1, 0]);
  await engine.close();
  await expect(commands.waiting(project, 9)).rejects.toThrow();
  scratch.remove();
});
