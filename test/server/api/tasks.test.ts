import { describe, expect, it } from 'vitest';
import type { LearningsProposal } from '../../../src/core/task/proposal.ts';
import { begun } from '../../orchestrator/scene.ts';
import { projectOf } from './api-scene.ts';
import { readsOf } from './read-scene.ts';

describe('a task in the API', () => {
  it('has the texts of the learnings that its proposals would replace', async () => {
    const stage = await begun({ issues: [] });
    const { project, store } = stage;
    const author = { kind: 'person', name: 'me' } as const;
    for (const text of ['Test first', 'Ask before'])
      await store.learnings.add(project, { text, origins: [], author, status: 'kept', at: 1, key: text });
    const key = { project, taskId: 'learn:1' };
    await store.tasks.add(project, { id: key.taskId, kind: 'learn', title: 'Learn', text: '', author, createdAt: 1 });
    const proposed: LearningsProposal['learnings'][number] = {
      ...{ text: 'Ask a person before', origins: [{ kind: 'note', issue: 'BAT-1', at: 1 }] },
      ...{ replaces: ['L2'], decision: 'open', learning: null },
    };
    const learnings = [proposed, { ...proposed, text: 'Be brief', replaces: [] }];
    await store.tasks.propose(key, { kind: 'learnings', learnings }, 2);
    const { get } = readsOf([projectOf(stage, 'test')]);
    expect((await get('/api/v1/projects/test/tasks/learn:1')).learnings).toMatchObject([
      { number: 1, origins: [{ kind: 'note', issue: 'BAT-1' }], replaced: [{ id: 'L2', text: 'Ask before' }] },
      { number: 2, replaced: [] },
    ]);
  });
});
