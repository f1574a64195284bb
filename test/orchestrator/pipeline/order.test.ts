import { describe, expect, it } from 'vitest';
import { issue } from '../../fake/issues.ts';
import { begun } from '../scene.ts';
import { complete, finish, inPhases, judge, minute, onlyResearch, phased, second, workOf } from './pipeline-scene.ts';

const works = (stage: Awaited<ReturnType<typeof begun>>) =>
  stage.runs.map((run) => `${run.request.issue.id} ${workOf(run)}`);

describe('the order of starts', () => {
  // @conforms 4.109
  it('is judges, then phase agents, then workers, whatever the priority of their issues', async () => {
    const settings = { ...onlyResearch({ validation: 'judge' }), agent: { ...phased().agent, maxConcurrentAgents: 1 } };
    const judged = { ...settings, judge: { ...settings.judge, extraSlotsPercent: 0 } };
    const stage = await inPhases({ issues: [issue({ id: 'judged' })], settings: judged });
    await complete(stage.runs[0]);
    stage.tracker.put(issue({ id: 'ready', labels: ['phase:ready'], priority: 1 }));
    stage.tracker.put(issue({ id: 'new', priority: 2 }));
    await stage.clock.advance(10 * second);
    stage.runs[0]?.succeed();
    await stage.clock.advance(minute);
    judge(stage.runs[1], 'approved');
    await stage.clock.advance(minute);
    stage.runs[2]?.fail('agent_input_required');
    await stage.clock.advance(minute);
    expect(works(stage)).toEqual(['judged research', 'judged judge of research', 'new research', 'ready work']);
  });

  // @conforms 4.112
  it('keeps the last slot for workers while one waits, and gives it to phase agents otherwise', async () => {
    const settings = phased({ agent: { maxConcurrentAgents: 2 } });
    const issues = ['1', '2', '3'].map((id) => issue({ id }));
    const full = await begun({ issues, settings });
    expect(works(full)).toEqual(['1 research', '2 research']);
    const stage = await begun({ issues: [...issues, issue({ id: '4', labels: ['phase:ready'] })], settings });
    expect(works(stage)).toEqual(['1 research', '4 work']);
  });

  it('counts an inherited phase agent as one, not as a worker that waits', async () => {
    const settings = phased({ agent: { maxConcurrentAgents: 2 } });
    const stage = await begun({ issues: ['1', '2'].map((id) => issue({ id })), settings });
    stage.kill();
    const { store, clock, tracker } = stage;
    const next = await begun({ store, clock, tracker, settings });
    await clock.advance(minute);
    expect(works(next).toSorted()).toEqual(['1 research', '2 research']);
    expect(await next.store.retries.list(next.project)).toEqual([]);
  });
});

describe('a retry', () => {
  // @conforms 4.79
  it('is for the phase that its issue is in when it is due', async () => {
    const stage = await inPhases();
    stage.runs[0]?.fail('agent_context_exhausted');
    await stage.clock.advance(5 * second);
    expect(await stage.store.retries.list(stage.project)).toMatchObject([{ recovery: expect.any(String) }]);
    await stage.tracker.changes.changeLabels(
      '1',
      { add: ['phase:grooming'], remove: ['phase:research'] },
      { kind: 'person', name: 'me' },
    );
    await stage.clock.advance(minute);
    expect(works(stage)).toEqual(['1 research', '1 grooming']);
    expect(stage.runs[1]?.request).toMatchObject({ attempt: null, retryKind: null, recovery: null });
  });

  it('of an issue whose phase is not in the file any more waits, and asks the tracker nothing', async () => {
    const stage = await inPhases();
    stage.runs[0]?.fail();
    await stage.clock.advance(second);
    stage.file.settings = onlyResearch({ name: 'other' });
    await stage.clock.advance(20 * second);
    const before = stage.calls.filter(({ kind }) => kind === 'ids').length;
    await stage.clock.advance(minute);
    expect(stage.orchestrator.read().retrying).toMatchObject([{ waitCode: 'phase_unknown' }]);
    expect(stage.calls.filter(({ kind }) => kind === 'ids')).toHaveLength(before);
  });
});

describe('the limit of runs of an issue', () => {
  it('counts phase agents and workers, and no judge', async () => {
    const settings = onlyResearch({ validation: 'judge' });
    const stage = await inPhases({ settings: { ...settings, limits: { ...settings.limits, runsPerIssue: 2 } } });
    await finish(stage);
    judge(stage.runs[1], 'rejected');
    await stage.clock.advance(10 * second);
    await finish(stage);
    judge(stage.runs[3], 'approved');
    await stage.clock.advance(10 * second);
    expect(works(stage)).toEqual(['1 research', '1 judge of research', '1 research', '1 judge of research']);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'limit_reached' }]);
    expect((await stage.store.counters.read({ project: stage.project, issueId: '1' })).runs).toBe(2);
  });
});
