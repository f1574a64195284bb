import { describe, expect, it } from 'vitest';
import type { LearningsProposal } from '../../../src/core/task/proposal.ts';
import { settings } from '../../fake/settings.ts';
import { begun } from '../../orchestrator/scene.ts';
import { telling } from '../../telling.ts';
import { projectOf } from './api-scene.ts';
import { readsOf } from './read-scene.ts';

describe('a task in the API', () => {
  // @conforms intake.3
  it('says why no agent works on it yet, and nothing once one does', async () => {
    const all = settings({ intervalMs: 1_000, limits: { runWallTimeMs: 0 } });
    const stage = await begun({ issues: [], settings: { ...all, intake: { ...all.intake, runsPerDay: 1 } } });
    const { get } = readsOf([projectOf(stage, 'test')]);
    const { task } = (await stage.command('intake_begin', { text: 'Make it blue.' }))?.data ?? {};
    const shown = () => get(`/api/v1/projects/test/tasks/${task}`);
    await stage.clock.advance(2_000);
    expect(await shown()).toMatchObject({ status: 'waiting', is_running: true, waits_for: null });
    stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: stage.clock.now() + 60_000 });
    await stage.clock.advance(2_000);
    expect(await shown()).toMatchObject({ is_running: false, waits_for: { code: 'retry_scheduled' } });
    await stage.clock.advance(600_000);
    const budget = { code: 'role_budget', text: telling(1, 'intake.runs_per_day') };
    expect((await get('/api/v1/projects/test/tasks')).tasks).toMatchObject([{ is_running: false, waits_for: budget }]);
    await stage.command('task_refuse', { task });
    expect(await shown()).toMatchObject({ status: 'refused', waits_for: null });
  });

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
