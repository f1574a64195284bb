import { expect, it } from 'vitest';
import { onEngine, project } from '../../conformance/store.ts';
import { engines } from '../engines.ts';

const key = { project, issueId: 'i1' };
const author = { kind: 'person', name: 'ann' } as const;
const note = (id: string, body = id) => ({ id, at: 1, kind: 'note' as const, author, body });

for (const engine of engines) {
  onEngine(engine, 'stores a message', ({ open }) => {
    it('until a run that received it ended well', async () => {
      const { messages } = await open();
      for (const id of ['m1', 'm2']) await messages.leave(key, note(id));
      await messages.leave({ ...key, issueId: 'i2' }, note('other'));
      const waiting = async (): Promise<string[]> => (await messages.waiting(key, 9)).map(({ id }) => id);
      await messages.give(['m1'], 'r1');
      await messages.give(['m1', 'other'], 'r2');
      expect(await messages.settle(key, 'r1', 5)).toBe(0);
      expect(await waiting()).toEqual(['m1', 'm2']);
      expect(await messages.settle(key, 'r2', 6)).toBe(1);
      expect(await waiting()).toEqual(['m2']);
      // What was settled belongs to that run for good.
      await messages.give(['m1', 'm2'], 'r3');
      expect(await messages.list(key, 9)).toMatchObject([
        { id: 'm1', givenTo: 'r2', settledAt: 6 },
        { id: 'm2', givenTo: 'r3', settledAt: null },
      ]);
      expect(await messages.waiting({ ...key, issueId: 'i2' }, 9)).toMatchObject([{ id: 'other', givenTo: 'r2' }]);
    });

    it('with its place, in the order in which it came, the newest of many', async () => {
      const { messages } = await open();
      const place = { path: 'src/漢.ts', line: 3, commit: 'abc' };
      await messages.leave(key, { ...note('m1', 'a\u0000\n b'), ...place, kind: 'review_comment' });
      await messages.leave(key, { ...note('m0'), at: 0 });
      expect(await messages.list(key, 9)).toEqual([
        { ...note('m1', 'a\uFFFD\n b'), ...place, kind: 'review_comment', givenTo: null, settledAt: null },
        { ...note('m0'), at: 0, path: null, line: null, commit: null, givenTo: null, settledAt: null },
      ]);
      expect(await messages.list(key, 1)).toMatchObject([{ id: 'm0' }]);
      expect(await messages.waiting(key, 1)).toMatchObject([{ id: 'm1' }]);
    });

    it('once, by its id or by its words while no agent has received those', async () => {
      const { messages } = await open();
      await messages.leave(key, note('m1', 'again'));
      await messages.leave(key, note('m1', 'other words'));
      await messages.leave(key, note('m2', 'again'));
      expect(await messages.list(key, 9)).toMatchObject([{ id: 'm1', body: 'again' }]);
      await messages.give(['m1'], 'r1');
      await messages.leave(key, note('m3', 'again'));
      expect(await messages.list(key, 9)).toMatchObject([{ id: 'm1' }, { id: 'm3' }]);
    });

    it('and takes it back only before an agent has received it', async () => {
      const { messages } = await open();
      for (const id of ['m1', 'm2']) await messages.leave(key, note(id));
      await messages.give(['m1'], 'r1');
      expect(await messages.takeBack('m1')).toBe(false);
      expect(await messages.takeBack('m2')).toBe(true);
      expect(await messages.list(key, 9)).toMatchObject([{ id: 'm1' }]);
    });
  });
}
