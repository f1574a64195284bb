import { expect, it } from 'vitest';
import { newPhaseRecord } from '../../../src/core/pipeline/phase.ts';
import { onEngine } from '../../conformance/store.ts';
import { engines } from '../engines.ts';

const project = 'p';
const key = (issueId: string) => ({ project, issueId });

for (const engine of engines) {
  onEngine(engine, 'stores phases', ({ open }) => {
    it('names the issues whose phase was written since a mark, each write with another mark', async () => {
      const { phases } = await open();
      expect(await phases.changes(project, null)).toEqual({ mark: 0, written: new Map() });
      await phases.put(key('1'), newPhaseRecord('research', 0));
      await phases.put({ project: 'other', issueId: '2' }, newPhaseRecord('research', 0));
      const { mark } = await phases.changes(project, null);
      expect(mark).toBeGreaterThan(0);
      const marks: (number | undefined)[] = [mark];
      const writes = [
        () => phases.put(key('1'), { ...newPhaseRecord('research', 0), revisions: 1, revisionSince: 1 }),
        () => phases.setMirroring(key('1'), { labels: ['a'], by: 'me', at: 1 }),
        () => phases.setMirrored(key('1'), ['a'], 1),
        () => phases.expireRevision(key('1'), 1),
        () => phases.clearRevisions(key('1')),
      ];
      for (const write of writes) {
        await write();
        const { written } = await phases.changes(project, mark);
        expect([...written.keys()]).toEqual(['1']);
        marks.push(written.get('1'));
      }
      expect(new Set(marks).size).toBe(writes.length + 1);
      const last = await phases.changes(project, mark);
      expect(last.mark).toBe(marks.at(-1));
      // Far later nothing of before is named.
      expect((await phases.changes(project, last.mark + 3_600_000)).written.size).toBe(0);
    });
  });
}
