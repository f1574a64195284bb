import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ClaimRequest } from '../../src/store/tables/claims.ts';
import { runs } from '../property-runs.ts';
import { onEngine, project, type StoreEngine, type StorePlace } from './store.ts';
import { anyActs, expectRules } from './store-claims-model.ts';

const key = { project, issueId: 'i1' };
const elsewhere = { project: 'beta', issueId: 'i1' };
const long = { at: 1_000, leaseMs: 3_600_000 };
const over = { at: 1_000, leaseMs: -60_000 };

function wish(owner: string, more: Partial<ClaimRequest> = {}): ClaimRequest {
  return { owner, host: `host of ${owner}`, slotState: 'Todo', ...long, ...more };
}

/** Claims with leases and generations, and the writes under them. */
export function claimsConformance(engine: StoreEngine): void {
  onEngine(engine, 'keeps claims', ({ open, place }) => {
    it('gives a free claim to one owner, and to no one else until it is released', async () => {
      const { claims } = await open();
      const mine = await claims.take(key, wish('me'));
      expect(mine).toMatchObject({ ...key, owner: 'me', generation: 1, host: 'host of me', slotState: 'Todo' });
      expect(await claims.take(key, wish('you'))).toBeNull();
      expect(await claims.take(key, wish('me'))).toBeNull();
      expect(await claims.take(elsewhere, wish('you'))).toMatchObject({ generation: 1 });
      expect(await claims.read(key)).toEqual(mine);
      expect(await claims.release(key, { owner: 'me', generation: 1 })).toBe(true);
      expect(await claims.read(key)).toBeNull();
      expect(await claims.take(key, wish('you', { slotState: null }))).toMatchObject({
        owner: 'you',
        generation: 2,
        slotState: null,
      });
    });

    it('keeps nothing of its holder when it is released, except the generation', async () => {
      const where = await place();
      const { claims } = await open(where);
      expect(await claims.generation(key)).toBe(0);
      await claims.take(key, wish('me'));
      await claims.release(key, { owner: 'me', generation: 1 });
      expect(await where.query('select owner, host, slot_state from claims')).toEqual([
        expect.objectContaining({ owner: null, host: null, slot_state: null }),
      ]);
      expect(await claims.held(project, long.at)).toEqual([]);
      expect(await claims.generation(key)).toBe(1);
      expect(await claims.generation(elsewhere)).toBe(0);
    });

    it('lets another owner take an expired claim, after which the old holder can do nothing with it', async () => {
      const store = await open();
      const { claims } = store;
      const me = { owner: 'me', generation: 1 };
      await claims.take(key, wish('me', over));
      expect(await claims.held(project, long.at)).toMatchObject([{ ...me, isExpired: true }]);
      expect(await claims.take(key, wish('you'))).toMatchObject({ owner: 'you', generation: 2 });
      expect(await claims.renewAll(project, 'me', long)).toEqual([]);
      expect(await claims.setSlot(key, me, 'Doing')).toBe(false);
      expect(await claims.release(key, me)).toBe(false);
      expect(await store.transaction((inside) => inside.claims.verify(key, me))).toBe(false);
      expect(await claims.held(project, long.at)).toMatchObject([
        { owner: 'you', generation: 2, slotState: 'Todo', isExpired: false },
      ]);
    });

    it('lets its holder continue after expiry until another owner takes it', async () => {
      const store = await open();
      const me = { owner: 'me', generation: 1 };
      await store.claims.take(key, wish('me', over));
      expect(await store.transaction(({ claims }) => claims.verify(key, me))).toBe(true);
      expect(await store.claims.setSlot(key, me, null)).toBe(true);
      expect(await store.claims.renewAll(project, 'me', long)).toMatchObject([{ ...me, slotState: null }]);
      expect(await store.claims.take(key, wish('you'))).toBeNull();
      expect(await store.claims.release(key, me)).toBe(true);
    });

    it('identifies a holder by both owner and generation', async () => {
      const store = await open();
      await store.claims.take(key, wish('me'));
      for (const stranger of [
        { owner: 'you', generation: 1 },
        { owner: 'me', generation: 0 },
        { owner: 'me', generation: 2 },
        { owner: '', generation: 1 },
      ]) {
        expect(await store.claims.setSlot(key, stranger, 'Doing')).toBe(false);
        expect(await store.claims.release(key, stranger)).toBe(false);
        expect(await store.transaction(({ claims }) => claims.verify(key, stranger))).toBe(false);
      }
      const me = { owner: 'me', generation: 1 };
      expect(await store.transaction(({ claims }) => claims.verify(elsewhere, me))).toBe(false);
      expect(await store.transaction(({ claims }) => claims.verify(key, me))).toBe(true);
      expect(await store.claims.read(key)).toMatchObject({ ...me, slotState: 'Todo' });
    });

    it('returns to an owner the claims it held before a restart, and to no one else, with a new generation', async () => {
      const store = await open();
      await store.claims.take(key, wish('me'));
      expect(await store.claims.take(key, wish('you', { reclaim: true }))).toBeNull();
      const again = await store.claims.take(key, wish('me', { reclaim: true, slotState: null, host: 'new' }));
      expect(again).toMatchObject({ owner: 'me', generation: 2, slotState: null, host: 'new' });
      expect(await store.claims.release(key, { owner: 'me', generation: 1 })).toBe(false);
      expect(await store.claims.release(key, { owner: 'me', generation: 2 })).toBe(true);
      expect(await store.claims.take(key, wish('you', { reclaim: true }))).toMatchObject({ generation: 3 });
    });

    it('renews and returns only the claims of one owner in one project', async () => {
      const { claims } = await open();
      for (const issueId of ['b', 'a', 'c']) await claims.take({ project, issueId }, wish('me', over));
      await claims.take({ project, issueId: 'yours' }, wish('you', over));
      await claims.take(elsewhere, wish('me', over));
      await claims.release({ project, issueId: 'c' }, { owner: 'me', generation: 1 });
      const renewed = await claims.renewAll(project, 'me', long);
      expect(renewed.map(({ issueId }) => issueId).toSorted()).toEqual(['a', 'b']);
      for (const claim of renewed) {
        expect(claim.leaseUntil).toBeGreaterThanOrEqual(claim.claimedAt + long.leaseMs);
        expect(await claims.read(claim)).toEqual(claim);
        expect(await claims.take(claim, wish('you'))).toBeNull();
      }
      expect((await claims.held(project, long.at)).filter(({ isExpired }) => isExpired)).toMatchObject([
        { issueId: 'yours' },
      ]);
      expect(await claims.held('beta', long.at)).toMatchObject([{ isExpired: true }]);
      expect(await claims.renewAll(project, 'nobody', long)).toEqual([]);
    });

    it('measures leases by one clock: that of the machine, or that of the shared server', async () => {
      const { claims } = await open();
      const claim = await claims.take(key, wish('me', { at: 5_000, leaseMs: 100_000 }));
      expect((claim?.leaseUntil ?? 0) - (claim?.claimedAt ?? 0)).toBe(100_000);
      const isExpired = async (at: number) => (await claims.held(project, at))[0]?.isExpired;
      if (engine.name === 'sqlite') {
        expect(claim?.claimedAt).toBe(5_000);
        expect([await isExpired(104_999), await isExpired(105_000)]).toEqual([false, true]);
        expect(await claims.take(key, wish('you', { at: 104_999 }))).toBeNull();
        expect(await claims.take(key, wish('you', { at: 105_000 }))).toMatchObject({ generation: 2 });
      } else {
        // Far from every caller's 1970: a machine with a wrong clock cannot take another daemon's claim.
        expect(claim?.claimedAt).toBeGreaterThan(Date.UTC(2026, 0));
        expect(await isExpired(Number.MAX_SAFE_INTEGER)).toBe(false);
        expect(await claims.take(key, wish('you', { at: Number.MAX_SAFE_INTEGER - long.leaseMs }))).toBeNull();
      }
    });

    it('follows the rules for any order of operations, with generations that only grow', async () => {
      const store = await open();
      const property = fc.asyncProperty(anyActs, fc.uuid(), (acts, name) => expectRules(store, acts, name));
      await fc.assert(property, { numRuns: runs(25) });
    });
  });

  onEngine(engine, 'lets exactly one win', ({ open, place }) => {
    /** Resolves when somebody waits for a lock: PostgreSQL tells; on SQLite a try was made before the next turn. */
    const untilSomebodyWaits = async (where: StorePlace) => {
      if (engine.name === 'sqlite') return await new Promise<void>((resolve) => setImmediate(resolve));
      const waiting = () =>
        where.query("select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()");
      await expect.poll(waiting).toHaveLength(1);
    };

    it('of many that take a claim at once on several stores, round after round', { tags: ['smoke'] }, async () => {
      const where = await place();
      const stores = await Promise.all([open(where), open(where), open(where)]);
      let generation = 0;
      for (let round = 0; round < 12; round++) {
        const taken = await Promise.all(
          Array.from({ length: 15 }, (_, index) =>
            stores[index % 3]?.claims.take(key, wish(`${index}`, round % 2 ? over : long)),
          ),
        );
        // An expired lease may change hands many times in a round; a live one goes to one.
        const winners = taken.filter((claim) => claim !== null && claim !== undefined);
        if (round % 2 === 0) expect(winners).toHaveLength(1);
        const generations = winners.map((claim) => claim.generation).toSorted((a, b) => a - b);
        expect(generations).toEqual(winners.map((_, index) => generation + 1 + index));
        generation = generations.at(-1) ?? generation;
        const holder = await stores[0]?.claims.read(key);
        expect(holder?.generation).toBe(generation);
        if (holder) expect(await stores[1]?.claims.release(key, holder)).toBe(true);
      }
    });

    it('of an owner that renews an expired claim and another that takes it', async () => {
      const where = await place();
      const [mine, yours] = [await open(where), await open(where)];
      for (let round = 0; round < 25; round++) {
        const one = { project, issueId: `i${round}` };
        await mine.claims.take(one, wish('me', over));
        const acts = [
          async () => (await mine.claims.renewAll(project, 'me', long)).some(({ issueId }) => issueId === one.issueId),
          async () => (await yours.claims.take(one, wish('you'))) !== null,
        ];
        const wins = await Promise.all((round % 2 ? acts : acts.toReversed()).map((act) => act()));
        expect(wins.filter(Boolean), `round ${round}`).toHaveLength(1);
      }
    });

    it('of a holder that writes under its claim and one that takes it: the taker waits, then finds all of it', async () => {
      const where = await place();
      const [mine, yours] = [await open(where), await open(where)];
      await mine.claims.take(key, wish('me', over));
      const order: string[] = [];
      const { taking } = await mine.transaction(async ({ claims, counters }) => {
        expect(await claims.verify(key, { owner: 'me', generation: 1 })).toBe(true);
        const taken = yours.claims.take(key, wish('you')).then(async (claim) => {
          order.push('taken');
          return { claim, found: await yours.counters.read(key) };
        });
        await untilSomebodyWaits(where);
        await counters.set(key, 'one', 1);
        await counters.set(key, 'two', 2);
        order.push('written');
        // In a record, because the transaction would otherwise wait for its own waiter.
        return { taking: taken };
      });
      expect(await taking).toMatchObject({ claim: { owner: 'you', generation: 2 }, found: { one: 1, two: 2 } });
      expect(order).toEqual(['written', 'taken']);
    });

    it('of one that takes a claim and its holder that wants to write: the holder waits, then is refused', async () => {
      const where = await place();
      const [mine, yours] = [await open(where), await open(where)];
      await mine.claims.take(key, wish('me', over));
      const { verifying } = await yours.transaction(async ({ claims }) => {
        expect(await claims.take(key, wish('you'))).toMatchObject({ generation: 2 });
        const verified = mine.transaction((inside) => inside.claims.verify(key, { owner: 'me', generation: 1 }));
        await untilSomebodyWaits(where);
        return { verifying: verified };
      });
      expect(await verifying).toBe(false);
    });

    it('keeps writes under a claim in the order of its generations, whichever owner takes it meanwhile', async () => {
      const where = await place();
      const stores = await Promise.all([open(where), open(where), open(where)]);
      let written = 0;
      const live = async (store: (typeof stores)[number], name: string) => {
        for (let round = 0; round < 8; round++) {
          const claim = await store.claims.take(key, wish(name, over));
          if (claim === null) throw new Error('an expired claim was refused');
          await store.transaction(async ({ claims, counters, commands }) => {
            if (!(await claims.verify(key, claim))) return;
            // Between the read and the write, others have time to take the claim and to write.
            for (let pause = 0; pause < 8; pause++) await counters.read(key);
            const author = { kind: 'orchestrator' } as const;
            const id = `${name}-${round}`;
            const payload = { generation: claim.generation };
            await commands.submit({ id, project, kind: 'write', payload, author, at: 1, key: null });
            written += 1;
          });
        }
      };
      await Promise.all(Array.from({ length: 9 }, (_, index) => live(stores[index % 3] as never, `w${index}`)));
      const log = await stores[0]?.commands.waiting(project, 100);
      const generations = log?.map(({ payload }) => Number(payload.generation)) ?? [];
      expect(generations).toHaveLength(written);
      expect(written).toBeGreaterThan(0);
      expect(generations).toEqual(generations.toSorted((a, b) => a - b));
    });

    it('of many that share slots under the lock of their project: no slot is given twice', async () => {
      const where = await place();
      const stores = await Promise.all([open(where), open(where), open(where)]);
      const { id } = (await stores[0]?.projects.ensure(project, 1)) ?? { id: '' };
      // So that all are connected and start at once.
      await Promise.all(Array.from({ length: 12 }, (_, index) => stores[index % 3]?.recovery(id, 1)));
      const started = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          stores[index % 3]?.transaction(async ({ projects, claims }) => {
            await projects.lock(id);
            const used = (await claims.held(id, long.at)).filter(({ slotState }) => slotState !== null);
            if (used.length >= 3) return null;
            await claims.generation(key);
            return claims.take({ project: id, issueId: `i${index}` }, wish(`${index}`));
          }),
        ),
      );
      expect(started.filter(Boolean)).toHaveLength(3);
    });

    it('of two that lock a project; on PostgreSQL another project does not wait', async () => {
      const where = await place();
      const [mine, yours] = [await open(where), await open(where)];
      for (const name of ['alpha', 'beta']) await mine.projects.ensure(name, 1);
      const order: string[] = [];
      const { locking } = await mine.transaction(async ({ projects }) => {
        await projects.lock('alpha');
        if (engine.name === 'postgres') await yours.transaction((inside) => inside.projects.lock('beta'));
        const locked = yours.transaction(async (inside) => {
          await inside.projects.lock('alpha');
          order.push('second');
        });
        await untilSomebodyWaits(where);
        order.push('first');
        return { locking: locked };
      });
      await locking;
      expect(order).toEqual(['first', 'second']);
    });

    it('never outside a transaction, and never for an unknown project', async () => {
      const store = await open();
      await store.claims.take(key, wish('me'));
      await store.projects.ensure(project, 1);
      const outside = [store.projects.lock(project), store.claims.verify(key, { owner: 'me', generation: 1 })];
      for (const call of outside) await expect(call).rejects.toMatchObject({ code: 'internal_error' });
      const nowhere = store.transaction(({ projects }) => projects.lock('no such project'));
      await expect(nowhere).rejects.toMatchObject({ code: 'store_constraint' });
    });
  });
}
