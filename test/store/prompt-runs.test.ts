import { expect, it } from 'vitest';
import { measurePrompts } from '../../src/core/prompt/prompt-metrics.ts';
import { onEngine, project, runStart } from '../conformance/store.ts';
import { engines } from './engines.ts';
import { pullDraft } from './pull-draft.ts';

const day = 86_400_000;
const prompt = { version: 'v1', source: 'WORKFLOW.md' };

for (const engine of engines) {
  onEngine(engine, 'keeps the metrics of prompts', ({ open }) => {
    // @conforms 4.131
    it('when the runs themselves are pruned, and does not count a run twice', async () => {
      const store = await open();
      const end = { outcome: 'succeeded', errorCode: null, errorMessage: null } as const;
      for (const [n, at] of [1, 2, 80].entries()) {
        const runId = `r${n}`;
        await store.runs.start(runStart(runId, { issueId: `i${n}`, startedAt: at * day, prompt }));
        await store.runs.record(runId, 1, { totalTokens: 100 * n, costMicroUsd: n });
        await store.runs.finish(runId, 1, { ...end, endedAt: at * day + 1_000 });
        const pull = await store.pullRequests.open(
          pullDraft(`i${n}`, { by: { kind: 'run', runId }, at: at * day, headCommit: `c${n}` }),
        );
        if (n === 0) {
          const by = { kind: 'orchestrator' } as const;
          await store.pullRequests.sendBack(pull, 'c0', { at: at * day + 1, by, kind: 'check' });
        }
        if (n === 1) {
          const merge = { at: 3 * day, by: { kind: 'orchestrator' }, commit: 'm', method: 'merge' } as const;
          await store.pullRequests.merged(pull, merge);
        }
      }
      await store.runs.start(runStart('of an earlier version', { issueId: 'x', startedAt: day }));
      const measured = async (since: number) => measurePrompts(await store.promptRuns.facts(project, since), 'agent');
      const before = await measured(0);
      expect(before).toMatchObject([
        {
          ...{ version: 'v1', source: 'WORKFLOW.md', runs: 3, success: { count: 3, of: 3 } },
          ...{ sentBack: { count: 1, of: 3 }, tokens: { median: 100 }, toMergeMs: { of: 1, median: day } },
        },
      ]);
      expect(await store.runs.prune(50 * day, 10)).toEqual(['r0', 'r1']);
      expect(await measured(0)).toEqual(before);
      expect(await store.runs.prune(50 * day, 10)).toEqual([]);
      expect(await measured(0)).toEqual(before);
      // The issue that was merged began before this time.
      expect(await measured(2 * day + 1)).toMatchObject([{ runs: 1, toMergeMs: { of: 0 } }]);
    });
  });
}
