import { describe, expect, it } from 'vitest';
import type { Issue } from '../../src/core/issue/issue.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { begun, gate, type Scene, type SceneOptions } from './scene.ts';

const hour = 3_600_000;

/** The next poll is an hour away: whatever happened to the issue, the end of the run has to find it. */
const seldom = (options: SceneOptions = {}) =>
  begun({ settings: settings({ intervalMs: hour, agent: { maxRetries: 1, maxStaleRuns: 1 } }), ...options });

const move = (stage: Scene, state: string, more: Partial<Issue> = {}): Issue => {
  const moved = issue({ id: '1', state, ...more });
  stage.tracker.put(moved);
  return moved;
};

const reads = ({ calls }: Scene): number => calls.filter(({ kind }) => kind === 'ids').length;

describe('an issue that a person closed a moment before its run ends', () => {
  // @conforms 4.41, 4.52
  it.each<[string, (stage: Scene) => void]>([
    ['failed for the last time', ({ runs }) => runs[0]?.fail()],
    ['needs a person', ({ runs }) => runs[0]?.fail('agent_input_required')],
    [
      'changed nothing for the last time',
      ({ runs }) => {
        runs[0]?.request.report({ kind: 'changed', changed: false, facts: null });
        runs[0]?.succeed();
      },
    ],
  ])('is not held when the run %s: it is released and cleaned up, and nothing is counted', async (_what, end) => {
    const stage = await seldom();
    move(stage, 'Done');
    end(stage);
    await stage.clock.advance(500);
    const { held, retrying } = stage.orchestrator.read();
    expect([held, retrying]).toEqual([[], []]);
    expect(stage.workspaces.removed).toEqual(['/workspaces/T-1']);
    const { failures, stale_runs } = await stage.store.counters.read({ project: stage.project, issueId: '1' });
    expect([failures ?? 0, stale_runs ?? 0]).toEqual([0, 0]);
    expect([stage.runs.length, reads(stage)]).toEqual([1, 1]);
  });

  it('is held all the same when its agent may be alive, or when a person holds it and it only moved', async () => {
    const alive = await seldom();
    move(alive, 'Done');
    alive.runs[0]?.fail('agent_survives');
    await alive.clock.advance(500);
    expect(alive.orchestrator.read().held).toMatchObject([{ code: 'agent_survives' }]);
    const asked = await seldom();
    await asked.command('issue_hold', { issue: 'T-1' });
    move(asked, 'Backlog');
    asked.runs[0]?.succeed();
    await asked.clock.advance(500);
    expect(asked.orchestrator.read().held).toMatchObject([{ code: 'person' }]);
  });
});

describe('an issue that left the active states', () => {
  const changes: readonly [string, (stage: Scene) => Issue | null][] = [
    ['was moved', (stage) => move(stage, 'Backlog')],
    ['was given to somebody', (stage) => move(stage, 'Todo', { dispatchable: false })],
    [
      'is gone',
      (stage) => {
        stage.tracker.remove('1');
        return null;
      },
    ],
  ];

  it.each(changes)(
    'because it %s is released at the exit when its run saw it, without a request',
    async (_w, change) => {
      const stage = await seldom();
      stage.calls.length = 0;
      stage.runs[0]?.request.report({ kind: 'left', issue: change(stage) });
      stage.runs[0]?.succeed();
      await stage.clock.advance(0);
      expect([stage.orchestrator.read().running, stage.orchestrator.read().retrying]).toEqual([[], []]);
      await stage.clock.advance(10_000);
      expect([stage.started(), stage.calls]).toEqual([['1'], []]);
    },
  );

  it.each(changes)('because it %s is released at the exit on a tracker of this machine', async (_what, change) => {
    const stage = await seldom({ isLocal: true });
    change(stage);
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect([stage.orchestrator.read().held, stage.orchestrator.read().retrying]).toEqual([[], []]);
    await stage.clock.advance(10_000);
    expect(stage.started()).toEqual(['1']);
  });
});

describe('the read at the exit', () => {
  // @conforms 4.52
  it('is left to the retry where there is one, on a remote tracker', async () => {
    const stage = await seldom({ settings: settings({ intervalMs: hour }) });
    stage.runs[0]?.succeed();
    await stage.clock.advance(1_500);
    expect([stage.runs.length, reads(stage)]).toEqual([2, 1]);
    stage.runs[1]?.fail();
    await stage.clock.advance(1_000);
    expect([stage.orchestrator.read().retrying.length, reads(stage)]).toEqual([1, 1]);
  });

  it('waits ten seconds for a tracker that does not answer; then the known record counts', async () => {
    const stage = await seldom();
    const { passed } = gate();
    stage.tracker.fetchByIds = async () => passed.then(() => []);
    stage.runs[0]?.fail();
    await stage.clock.advance(9_000);
    expect(stage.orchestrator.read().running).toHaveLength(1);
    await stage.clock.advance(2_000);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'retries_exhausted' }]);
  });

  it('that fails changes nothing', async () => {
    const stage = await seldom();
    stage.tracker.fetchByIds = async () => Promise.reject(new Error('no answer'));
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'retries_exhausted' }]);
  });
});
