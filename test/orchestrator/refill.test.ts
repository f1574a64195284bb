import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Issue } from '../../src/core/issue/issue.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { begun, type Scene } from './scene.ts';

const hour = 3_600_000;
const oneSlot = settings({
  intervalMs: hour,
  agent: { maxConcurrentAgents: 1 },
  tracker: { requiredLabels: ['baton'] },
});
const ready = (id: string, changes: Partial<Issue> = {}): Issue => issue({ id, labels: ['baton'], ...changes });

/** One runs, the others wait for its slot; the next poll is far away. */
const full = (...ids: string[]): Promise<Scene> => begun({ issues: ids.map((id) => ready(id)), settings: oneSlot });

/** The run that has the slot ends, and needs a person: its issue does not come back. */
async function freeSlot(stage: Scene): Promise<void> {
  await stage.clock.advance(5_000);
  stage.runs.at(-1)?.fail('agent_input_required');
  await stage.clock.advance(0);
}

describe('a freed slot', () => {
  it('goes to the next known candidate at once, after one read by id', async () => {
    const stage = await full('1', '2', '3');
    await stage.clock.advance(5_000);
    stage.calls.length = 0;
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['1', '2']);
    expect(stage.calls.map(({ kind }) => kind)).toEqual(['ids']);
  });

  it.each([
    ['moved on', 'terminal_state', { state: 'Done' }],
    // @conforms O7
    ['lost its label', 'missing_label', { labels: [] }],
    ['was given to somebody', 'not_dispatchable', { dispatchable: false }],
    ['got a blocker', 'blocked', { blockedBy: [{ id: 'x', identifier: 'T-x', state: 'Todo' }] }],
  ])('does not go to an issue that %s since the poll, but to the next one', async (_what, code, change) => {
    const stage = await full('1', '2', '3');
    stage.tracker.put(ready('2', change));
    await freeSlot(stage);
    expect(stage.started()).toEqual(['1', '3']);
    expect(stage.orchestrator.read().skipped.find(({ issue: { id } }) => id === '2')?.reason.code).toBe(code);
  });

  it('does not go to an issue that is gone', async () => {
    const stage = await full('1', '2', '3');
    stage.tracker.remove('2');
    await freeSlot(stage);
    expect(stage.started()).toEqual(['1', '3']);
  });

  it('waits with a reason when the tracker does not answer, and is used at the next poll', async () => {
    const stage = await full('1', '2');
    const { fetchByIds } = stage.tracker;
    stage.tracker.fetchByIds = async () => {
      throw new BatonError('tracker_status', 'HTTP 502');
    };
    await freeSlot(stage);
    expect(stage.started()).toEqual(['1']);
    expect(stage.orchestrator.read().skipped).toMatchObject([{ reason: { code: 'not_read' } }]);
    stage.tracker.fetchByIds = fetchByIds.bind(stage.tracker);
    stage.orchestrator.refresh();
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['1', '2']);
  });

  it('goes to a waiting retry before a new issue', async () => {
    const stage = await full('1', '2', '3');
    await stage.clock.advance(2_000);
    stage.runs[0]?.fail();
    await stage.clock.advance(20_000);
    expect(stage.orchestrator.read().retrying).toMatchObject([{ waitCode: 'project_full' }]);
    await freeSlot(stage);
    expect(stage.started()).toEqual(['1', '2', '1']);
  });
});
