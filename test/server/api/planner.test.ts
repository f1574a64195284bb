import { describe, expect, it } from 'vitest';
import { bigIssue, plan, planned, plannerScene, second } from '../../orchestrator/planner/planner-scene.ts';
import { projectOf } from './api-scene.ts';
import { readsOf } from './read-scene.ts';

const at = '/api/v1/projects/test';

describe('the planner in the API', () => {
  it('has the parts of an issue, the issue of a part, and the budget of the role', async () => {
    const stage = await plannerScene({ settings: planned({ runsPerDay: 1 }) });
    const id = await bigIssue(stage);
    await stage.clock.advance(second);
    await plan(stage.runs[0]);
    stage.runs[0]?.succeed();
    await stage.clock.advance(2 * second);
    const { get } = await readsOf([projectOf(stage, 'test')]);
    const parent = await get(`${at}/issues/BAT-1`);
    expect(parent.plan).toMatchObject({
      is_made: true,
      parts: ['BAT-2', 'BAT-3', 'BAT-4'].map((name) => ({ issue_identifier: name })),
    });
    expect(parent.part_of).toBeNull();
    expect(await get(`${at}/issues/BAT-3`)).toMatchObject({
      plan: null,
      part_of: { issue_id: id, issue_identifier: 'BAT-1' },
    });
    expect((await get(at)).vitals.today.roles).toMatchObject([
      { role: 'planner', runs: 1, runs_limit: 1, cost_limit_usd: null, used_up: true },
    ]);
  });
});
