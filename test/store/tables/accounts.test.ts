import { expect, it } from 'vitest';
import type { AccountState } from '../../../src/core/account/account.ts';
import { onEngine } from '../../conformance/store.ts';
import { engines } from '../engines.ts';

const account = (name: string, over: Partial<AccountState> = {}): AccountState => ({
  backend: 'codex',
  name,
  windows: [
    { name: 'primary', usedPercent: 12.5, windowMinutes: 300, resetsAt: 1_000 },
    { name: 'secondary', usedPercent: 130, windowMinutes: null, resetsAt: null },
    { name: 'mini primary', usedPercent: 100, windowMinutes: null, resetsAt: 9_000, isOther: true },
  ],
  parked: { until: 2_000, since: 1_000, why: 'quota', reason: 'used up: 漢字 🚲 \u0000' },
  parks: 3,
  ...over,
});

for (const engine of engines) {
  onEngine(engine, 'stores accounts', ({ open, place }) => {
    it('replaces the state of one account, and leaves the others unchanged', async () => {
      const { accounts } = await open();
      expect(await accounts.list()).toEqual([]);
      const other = account('second', { parked: null, windows: [] });
      const sameName = account('first', { backend: 'claude' });
      await accounts.put(account('first'), 1);
      await accounts.put(other, 1);
      await accounts.put(sameName, 1);
      expect(await accounts.list()).toEqual([sameName, account('first'), other]);
      const free = account('first', { parked: null, parks: 0, windows: [] });
      await accounts.put(free, 2);
      expect(await accounts.list()).toEqual([sameName, free, other]);
    });

    it('stays consistent when several daemons write at once', async () => {
      const where = await place();
      const stores = [await open(where), await open(where)];
      const states = Array.from({ length: 10 }, (_, parks) =>
        account('first', { parks, windows: [{ name: 'w', usedPercent: parks, windowMinutes: null, resetsAt: parks }] }),
      );
      await Promise.all(states.map(async (state, index) => await stores[index % 2]?.accounts.put(state, index)));
      const [found, ...more] = (await stores[0]?.accounts.list()) ?? [];
      expect(more).toEqual([]);
      expect(states).toContainEqual(found);
    });

    it('reads a damaged row as unknown: no window, and not parked', async () => {
      const where = await place();
      const { accounts } = await open(where);
      const garbage = ['', '{', 'null', '"x"', '5', '[null,5,[],{}]', '{"until":"soon","since":1,"why":"quota"}'];
      for (const [index, text] of garbage.entries()) {
        await accounts.put(account(`a${index}`), 1);
        await where.query(
          `update accounts set windows_json = '${text}', parked_json = '${text}' where name = 'a${index}'`,
        );
      }
      const found = await accounts.list();
      expect(found).toHaveLength(garbage.length);
      for (const each of found) expect(each).toMatchObject({ windows: [], parked: null, parks: 3 });
      const half = '[{"name":"w","usedPercent":5,"resetsAt":"never"},{"name":7,"usedPercent":5}]';
      const odd = '{"until":5,"since":1,"why":"auth","reason":{}}';
      await where.query(`update accounts set windows_json = '${half}', parked_json = '${odd}' where name = 'a0'`);
      expect((await accounts.list())[0]).toMatchObject({
        windows: [{ name: 'w', usedPercent: 5, windowMinutes: null, resetsAt: null }],
        parked: { until: 5, since: 1, why: 'auth', reason: '' },
      });
    });
  });
}
