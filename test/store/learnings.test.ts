import { expect, it } from 'vitest';
import { onEngine, project, runStart } from '../conformance/store.ts';
import { engines } from './engines.ts';
import { pullDraft } from './pull-draft.ts';

const ada = { kind: 'person', name: 'ada' } as const;
const draft = (key: string, text = 'Run the tests first.') =>
  ({ text, origins: [], author: ada, status: 'trial', at: 10, key }) as const;

for (const engine of engines) {
  onEngine(engine, 'learnings', ({ open }) => {
    it('have numbers in the order of their acceptance, and the same draft is added once', async () => {
      const store = await open();
      expect(await store.learnings.add(project, draft('a'))).toBe('L1');
      expect(
        await Promise.all([draft('b'), draft('c'), draft('b')].map((each) => store.learnings.add(project, each))),
      ).toEqual(expect.arrayContaining(['L2', 'L3']));
      expect((await store.learnings.list(project)).map(({ id }) => id)).toEqual(['L3', 'L2', 'L1']);
    });

    it('change only from the statuses that are named', async () => {
      const store = await open();
      await store.learnings.add(project, draft('a'));
      expect(await store.learnings.change(project, 'L1', { status: 'vetoed', at: 20 }, ['trial', 'kept'])).toBe(true);
      expect(await store.learnings.change(project, 'L1', { status: 'kept', at: 30 }, ['trial'])).toBe(false);
      expect(await store.learnings.change(project, 'nothing', { status: 'kept', at: 30 }, ['trial'])).toBe(false);
      expect(await store.learnings.list(project)).toMatchObject([{ status: 'vetoed', changedAt: 20, createdAt: 10 }]);
      const edit = { status: 'trial', text: 'Other words.', at: 40 } as const;
      expect(await store.learnings.change(project, 'l1', edit, ['vetoed'])).toBe(true);
      expect(await store.learnings.list(project)).toMatchObject([{ status: 'trial', text: 'Other words.' }]);
    });

    // @conforms 4.129
    it('are judged by the issues that began during their trial and handed something in', async () => {
      const store = await open();
      await store.learnings.add(project, draft('a'));
      const begin = async (n: string, startedAt: number, isOffered: boolean) => {
        await store.runs.start(runStart(`r${n}`, { issueId: n, startedAt }));
        if (isOffered) await store.learnings.offer({ project, issueId: n }, ['L1'], startedAt);
        return store.pullRequests.open(
          pullDraft(n, { by: { kind: 'run', runId: `r${n}` }, at: startedAt + 1, headCommit: `c${n}` }),
        );
      };
      const sent = await begin('sent', 200, true);
      await store.pullRequests.sendBack(sent, 'csent', { at: 210, by: ada, kind: 'person' });
      await begin('fine', 200, true);
      await begin('without', 200, false);
      await begin('earlier', 50, true);
      await store.runs.start(runStart('nothing yet', { issueId: 'open', startedAt: 200 }));
      // A second offer changes nothing.
      await store.learnings.offer({ project, issueId: 'sent' }, ['L1'], 300);
      expect(await store.learnings.offeredTo({ project, issueId: 'sent' })).toEqual(['L1']);
      const found = await store.learnings.trialIssues(project, 'L1', 100);
      expect(found.toSorted((one, other) => (one.issueId < other.issueId ? -1 : 1))).toEqual([
        { issueId: 'fine', isSentBack: false, hadIt: true },
        { issueId: 'sent', isSentBack: true, hadIt: true },
        { issueId: 'without', isSentBack: false, hadIt: false },
      ]);
    });

    // @conforms 4.129
    it('come from failed runs of workers, work that came back and words of people, with the names of their issues', async () => {
      const store = await open();
      const end = { errorCode: 'agent_failed', errorMessage: 'no disk', endedAt: 150 } as const;
      for (const [runId, role, turns, outcome] of [
        ['failed', 'worker', 1, 'failed'],
        ['judge', 'judge', 1, 'failed'],
        ['no turn', 'worker', 0, 'failed'],
        ['stopped', 'worker', 1, 'canceled_by_reconciliation'],
      ] as const) {
        await store.runs.start(runStart(runId, { issueId: '1', identifier: 'BAT-1', role, startedAt: 100 }));
        await store.runs.record(runId, 1, { turns });
        await store.runs.finish(runId, 1, { ...end, outcome });
      }
      const say = (id: string, kind: 'note' | 'check' | 'conflict' | 'review_comment', at: number) =>
        store.messages.leave(
          { project, issueId: '1' },
          { id, at, kind, author: kind === 'note' ? ada : { kind: 'orchestrator' }, body: `body of ${id}`, path: null },
        );
      await say('old', 'note', 90);
      await say('note', 'note', 160);
      await say('red', 'check', 170);
      await say('conflict', 'conflict', 180);
      await say('review', 'review_comment', 190);
      const found = await store.learnings.lessons(project, 100, 10);
      expect(found.map(({ kind, issue, by, words }) => [kind, issue, by, words])).toEqual([
        ['failed_run', 'BAT-1', 'baton', 'agent_failed: no disk'],
        ['note', 'BAT-1', 'ada', 'body of note'],
        ['check', 'BAT-1', 'baton', 'body of red'],
        ['rejected', 'BAT-1', 'baton', 'body of review'],
      ]);
      expect(await store.learnings.lessons(project, 100, 1)).toHaveLength(2);
    });
  });
}
