import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Backlog, type BacklogBatch } from '../../src/store/backlog.ts';

it('never exceeds its limits by more than one item, keeps the order, and counts dropped items', () => {
  const act = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), bytes: fc.integer({ min: 0, max: 40 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('take', 'done', 'putBack') }) },
  );
  fc.assert(
    fc.property(fc.array(act, { maxLength: 300 }), (acts) => {
      const played = player();
      for (const [index, each] of acts.entries()) played.play(index, each.do, 'bytes' in each ? each.bytes : 0);
      played.end();
    }),
  );
});

/** Plays acts on a backlog and holds it to its rule after each. One batch at a time is being written. */
function player() {
  const shared = { most: 300, used: 0 };
  const backlog = new Backlog<number>({ mostItems: 10, mostBytes: 200, shared });
  let taken: BacklogBatch<number> | null = null;
  const written: number[] = [];
  let [added, dropped] = [0, 0];
  const add = (item: number, bytes: number): void => {
    if (backlog.hasSpace) {
      backlog.add(item, bytes);
      added += 1;
    } else {
      backlog.drop();
      dropped += 1;
    }
  };
  const end = (batch: BacklogBatch<number>, how: string): void => {
    if (how === 'putBack') backlog.putBack(batch);
    else {
      written.push(...batch.items);
      backlog.done(batch);
    }
  };
  return {
    play: (item: number, what: string, bytes: number) => {
      if (what === 'add') add(item, bytes);
      else if (what === 'take') taken ??= backlog.take();
      else if (taken !== null) {
        end(taken, what);
        taken = null;
      }
      expect(backlog.size.items + (taken?.items.length ?? 0)).toBeLessThanOrEqual(10);
      expect(shared.used).toBe(backlog.size.bytes + (taken?.bytes ?? 0));
      expect(shared.used).toBeLessThan(200 + 40);
    },
    end: () => {
      expect(backlog.takeDropped()).toBe(dropped);
      expect(backlog.dropped).toBe(0);
      written.push(...(taken?.items ?? []), ...backlog.take().items);
      expect(written).toHaveLength(added);
      expect(written).toEqual(written.toSorted((left, right) => left - right));
    },
  };
}

it('has no space when others have used the shared limit', () => {
  const shared = { most: 100, used: 0 };
  const room = { mostItems: 10, mostBytes: 1_000, shared };
  const [one, two] = [new Backlog<number>(room), new Backlog<number>(room)];
  one.add(1, 100);
  expect(two.hasSpace).toBe(false);
  const batch = one.take();
  expect(two.hasSpace).toBe(false);
  one.done(batch);
  expect(two.hasSpace).toBe(true);
});
