import fc from 'fast-check';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { NotifyCause } from '../../../src/core/notify/notify-cause.ts';
import type { Notifications, StoredNotification } from '../../../src/store/tables/notifications.ts';
import { onEngine, project } from '../../conformance/store.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { runs } from '../../property-runs.ts';
import { engines } from '../engines.ts';
import { cause } from '../notification-cause.ts';

const recurAfterMs = 100;
const of = (key: string, target = 't') => ({ project, target, causes: [key] });
const see = (table: Notifications, at: number, ...causes: readonly NotifyCause[]) =>
  table.see(
    project,
    causes.map((each) => ({ target: 't', cause: each })),
    at,
    recurAfterMs,
  );
const stateOf = ([row]: readonly StoredNotification[]) =>
  row && { first: row.firstSeenAt, over: row.overAt, tries: row.tries, next: row.nextTryAt, sent: row.sentAt };

for (const engine of engines) {
  onEngine(engine, 'stores which target got which cause', ({ open, place }) => {
    it('keeps a cause as first seen, whatever it contains', async () => {
      const { notifications } = await open();
      const odd = cause('k', { reason: 'a "b" 漢字 🚲', issue: null, since: null, runId: null, actions: [] });
      const [row] = await see(notifications, 5, odd);
      expect(row).toEqual({
        target: 't',
        cause: odd,
        firstSeenAt: 5,
        overAt: null,
        message: null,
        tries: 0,
        firstTryAt: null,
        nextTryAt: 5,
        sentAt: null,
        error: null,
      });
      const [again] = await see(notifications, 9, { ...odd, reason: 'another' });
      expect(again).toEqual(row);
      expect(await notifications.open(project)).toEqual([row]);
      expect(await notifications.open('beta')).toEqual([]);
    });

    it('accepts the same cause twice in one call, and many in one call', async () => {
      const { notifications } = await open();
      const many = Array.from({ length: 450 }, (_, index) => cause(`k${index}`));
      const rows = await see(notifications, 5, ...many, ...many);
      expect(new Set(rows.map((row) => row.cause.key)).size).toBe(450);
      expect(rows).toHaveLength(450);
      const all = { project, target: 't', causes: many.map(({ key }) => key) };
      expect(await notifications.begin(all, { message: 'm', triesBefore: 0, at: 6, nextTryAt: 7 })).toBe(true);
      await notifications.sent(all, 8);
      expect(await notifications.open(project)).toEqual([]);
    });

    it('follows a message from its first try to its arrival', async () => {
      const { notifications } = await open();
      await see(notifications, 5, cause('k'));
      expect(await notifications.begin(of('k'), { message: 'm', triesBefore: 0, at: 10, nextTryAt: 20.4 })).toBe(true);
      await notifications.failed(of('k'), { error: 'no answer', nextTryAt: 30.6 });
      expect(await notifications.begin(of('k'), { message: 'm', triesBefore: 1, at: 31, nextTryAt: 60 })).toBe(true);
      expect((await see(notifications, 32, cause('k')))[0]).toMatchObject({
        message: 'm',
        tries: 2,
        firstTryAt: 10,
        nextTryAt: 60,
        error: 'no answer',
      });
      await notifications.sent(of('k'), 33);
      expect((await see(notifications, 34, cause('k')))[0]).toMatchObject({ sentAt: 33, nextTryAt: null, error: null });
      // Nothing that comes late makes it unsent.
      await notifications.failed(of('k'), { error: 'late', nextTryAt: 99 });
      await notifications.sent(of('k'), 98);
      expect(await notifications.begin(of('k'), { message: 'n', triesBefore: 2, at: 97, nextTryAt: 98 })).toBe(false);
      expect((await see(notifications, 35, cause('k')))[0]).toMatchObject({ sentAt: 33, nextTryAt: null, tries: 2 });
    });

    it('does not begin an abandoned message, and begins several all or none', async () => {
      const { notifications } = await open();
      await see(notifications, 5, cause('a'), cause('b'));
      const both = { project, target: 't', causes: ['a', 'b'] };
      const first = { message: 'm', triesBefore: 0, at: 6, nextTryAt: 7 };
      await notifications.failed(of('b'), { error: 'refused', nextTryAt: null });
      expect(await notifications.begin(both, first)).toBe(false);
      expect((await notifications.open(project)).map(({ cause: { key }, tries }) => [key, tries])).toEqual([['a', 0]]);
      expect(await notifications.begin(of('a'), first)).toBe(true);
      expect(await notifications.begin(of('nothing'), first)).toBe(false);
    });

    // @conforms notify.5
    it('lets one of many begin a try', async () => {
      const where = await place();
      const stores = await Promise.all([open(where), open(where), open(where)]);
      for (let round = 0; round < 8; round += 1) {
        await Promise.all(stores.map(({ notifications }) => see(notifications, 5, cause(`k${round}`))));
        const begun = await Promise.all(
          stores.map(({ notifications }, index) =>
            notifications.begin(of(`k${round}`), { message: `m${index}`, triesBefore: 0, at: 6, nextTryAt: 7 }),
          ),
        );
        expect(begun.filter(Boolean)).toHaveLength(1);
      }
    });

    it('starts a cause again only when it recurs and was gone for long', async () => {
      const { notifications } = await open();
      const recurring = cause('r', { nature: 'recurring' });
      const sent = async (at: number) => {
        await see(notifications, at, recurring, cause('l'));
        for (const key of ['r', 'l']) {
          await notifications.begin(of(key), { message: 'm', triesBefore: 0, at, nextTryAt: at + 5 });
          await notifications.sent(of(key), at);
        }
      };
      await sent(10);
      await notifications.over(project, ['r', 'l'], 20);
      await notifications.over(project, ['r', 'l'], 90);
      const same = { first: 10, over: null, tries: 1, next: null, sent: 10 };
      expect(stateOf(await see(notifications, 119, recurring))).toEqual(same);
      await notifications.over(project, ['r', 'l'], 120);
      expect(stateOf(await see(notifications, 220, recurring))).toEqual({
        first: 220,
        over: null,
        tries: 0,
        next: 220,
        sent: null,
      });
      expect(stateOf(await see(notifications, 999, cause('l')))).toEqual(same);
    });

    it('lists the open ones: unsent and present, or recurring', async () => {
      const { notifications } = await open();
      const natures = ['lasting', 'recurring', 'happening'] as const;
      for (const nature of natures) {
        const keys = ['waits', 'sent', 'over', 'given-up'].map((what) => `${nature}-${what}`);
        await see(notifications, 5, ...keys.map((key) => cause(key, { nature })));
        await notifications.sent(of(`${nature}-sent`), 6);
        await notifications.over(project, [`${nature}-over`], 6);
        await notifications.failed(of(`${nature}-given-up`), { error: 'no', nextTryAt: null });
      }
      expect((await notifications.open(project)).map((row) => row.cause.key)).toEqual([
        ...['happening-waits', 'lasting-waits', 'recurring-given-up', 'recurring-sent', 'recurring-waits'],
      ]);
    });

    it('reads a damaged row so that no target gets it twice', async () => {
      const where = await place();
      const { notifications } = await open(where);
      await see(notifications, 5, cause('k'));
      for (const broken of ['', 'null', '[]', '{"event":"x","issue":{"id":7},"since":"now","actions":[1,"a"]}']) {
        await where.query(
          `update notifications set cause_json = '${broken}'${engine.name === 'sqlite' ? ' returning 1' : ''}`,
        );
        const [row] = await see(notifications, 6, cause('k'));
        expect(row).toMatchObject({
          cause: { key: 'k', event: 'needs_you', issue: null, since: null, code: 'unknown' },
        });
      }
    });

    it('prunes causes that were last seen long ago, in steps', async () => {
      const { notifications } = await open();
      await see(notifications, 5, cause('a'), cause('b'), cause('c'));
      await see(notifications, 50, cause('c'));
      expect(await notifications.prune(50, 1)).toBe(1);
      expect(await notifications.prune(50, 5)).toBe(1);
      expect(await notifications.prune(50, 5)).toBe(0);
      expect((await notifications.open(project)).map((row) => row.cause.key)).toEqual(['c']);
    });
  });
}

interface ModelRow {
  over: number | null;
  tries: number;
  sent: boolean;
  isOpen: boolean;
}

/** What is done to the table, and to the model beside it; `a` recurs and `b` does not. */
const acts = {
  see: async (table: Notifications, name: string, key: string, now: number, rows: Map<string, ModelRow>) => {
    const row = rows.get(key);
    const isAnew = row === undefined || (key === 'a' && row.over !== null && row.over <= now - recurAfterMs);
    const expected = isAnew ? { over: null, tries: 0, sent: false, isOpen: true } : { ...row, over: null };
    rows.set(key, expected);
    const seen = cause(key, { nature: key === 'a' ? 'recurring' : 'lasting' });
    const [found] = await table.see(name, [{ target: 't', cause: seen }], now, recurAfterMs);
    expect(found).toMatchObject({ overAt: null, tries: expected.tries });
    expect(found?.sentAt !== null).toBe(expected.sent);
    expect(found?.nextTryAt !== null).toBe(expected.isOpen && !expected.sent);
  },
  over: async (table: Notifications, name: string, key: string, now: number, rows: Map<string, ModelRow>) => {
    await table.over(name, [key], now);
    const row = rows.get(key);
    if (row !== undefined) row.over ??= now;
  },
  begin: async (table: Notifications, name: string, key: string, now: number, rows: Map<string, ModelRow>) => {
    const row = rows.get(key);
    const may = row !== undefined && !row.sent && row.isOpen;
    const attempt = { message: 'm', triesBefore: row?.tries ?? 0, at: now, nextTryAt: now + 10 };
    expect(await table.begin({ project: name, target: 't', causes: [key] }, attempt)).toBe(may);
    if (may) row.tries += 1;
  },
  arrive: async (table: Notifications, name: string, key: string, now: number, rows: Map<string, ModelRow>) => {
    await table.sent({ project: name, target: 't', causes: [key] }, now);
    const row = rows.get(key);
    if (row !== undefined) row.sent = true;
  },
  giveUp: async (table: Notifications, name: string, key: string, _now: number, rows: Map<string, ModelRow>) => {
    await table.failed({ project: name, target: 't', causes: [key] }, { error: 'no', nextTryAt: null });
    const row = rows.get(key);
    if (row !== undefined && !row.sent) row.isOpen = false;
  },
};
const actNames = Object.keys(acts) as readonly (keyof typeof acts)[];

// On SQLite, where a run is cheap.
it('follows the rules for any sequence of operations', async () => {
  const store = await scratchStore(systemClock);
  const step = fc.tuple(fc.constantFrom(...actNames), fc.constantFrom('a', 'b'), fc.constantFrom(0, 1, 60, 200));
  let drawn = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      drawn += 1;
      const rows = new Map<string, ModelRow>();
      let now = 1_000;
      for (const [act, key, waitMs] of steps) {
        now += waitMs;
        await acts[act](store.notifications, `p${drawn}`, key, now, rows);
      }
    }),
    { numRuns: runs(60) },
  );
});
