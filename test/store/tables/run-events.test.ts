import { expect, it } from 'vitest';
import { onEngine, runStart } from '../../conformance/store.ts';
import { engines } from '../engines.ts';

for (const engine of engines) {
  onEngine(engine, 'stores numbered events', ({ open, place }) => {
    const numbered = (...seqs: number[]) => seqs.map((seq) => ({ seq, at: seq, name: 'n', summary: `${seq}` }));

    it('under their numbers, once, however often and in whatever order they come', async () => {
      const where = await place();
      const [one, two] = [await open(where), await open(where)];
      await one.runs.start(runStart('r1'));
      await one.runEvents.append('r1', numbered(2, 3));
      await one.runEvents.append('r1', [{ seq: 3, at: 99, name: 'other', summary: 'other' }, ...numbered(1)]);
      await Promise.all([
        one.runEvents.append('r1', numbered(3, 7, 8)),
        two.runEvents.append('r1', numbered(7, 8, 9)),
        two.runEvents.append('r1', numbered(8, 7, 2)),
      ]);
      expect(await two.runEvents.list('r1', { limit: 99 })).toEqual(numbered(1, 2, 3, 7, 8, 9));
      expect(await two.runEvents.list('r1', { afterSeq: 3, limit: 1 })).toEqual(numbered(7));
    });

    it('and continues their numbers for events without one', async () => {
      const { runs, runEvents } = await open();
      await runs.start(runStart('r1'));
      await runEvents.append('r1', numbered(5));
      await runEvents.append('r1', [{ at: 6, name: 'n', summary: '6' }]);
      expect(await runEvents.list('r1', { limit: 9 })).toEqual(numbered(5, 6));
    });

    it('and refuses those of an unknown run', async () => {
      const { runEvents } = await open();
      await expect(runEvents.append('no', numbered(1))).rejects.toMatchObject({ code: 'store_constraint' });
    });
  });
}
