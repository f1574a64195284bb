import { describe, expect, it } from 'vitest';
import type { PlanDraft } from '../../src/core/planner/plan.ts';
import { errorIn, memory, openTools } from './open-tools.ts';

const part = { title: 'A part', description: 'Of it.' };

describe('the tools of a planner', () => {
  // @conforms 4.134
  it('are those to read its issue and to split it, and no others', () => {
    const { toolSet } = openTools(memory(), { onPlan: async () => ({ made: [] }) });
    expect(toolSet.tools.map(({ name }) => name)).toEqual(['get_issue', 'create_subtasks', 'report_progress']);
  });

  it('pass the plan on with its defaults, and answer with the identifiers', async () => {
    const said: PlanDraft[] = [];
    const { toolSet } = openTools(memory(), {
      onPlan: async (draft) => {
        said.push(draft);
        return { made: ['T-2', 'T-3'] };
      },
    });
    const subtasks = [part, { ...part, title: 'B', blocked_by: [1], acceptance_criteria: ['It works.'], priority: 1 }];
    const { success, output } = await toolSet.call('create_subtasks', { summary: 'two', subtasks });
    expect(success).toBe(true);
    for (const name of ['T-2', 'T-3']) expect(output).toContain(name);
    const defaults = { acceptance: [], priority: null, blockedBy: [], needsPlanning: false };
    expect(said).toEqual([
      {
        summary: 'two',
        subtasks: [
          { ...defaults, ...part },
          { ...defaults, ...part, title: 'B', blockedBy: [1], acceptance: ['It works.'], priority: 1 },
        ],
      },
    ]);
  });

  // @conforms planner.2
  it('refuse a plan with its problems', async () => {
    const { toolSet } = openTools(memory(), { onPlan: async () => ({ problems: [{ code: 'too_few' }] }) });
    const { success, output } = await toolSet.call('create_subtasks', { summary: 'x', subtasks: [part] });
    expect(success).toBe(false);
    expect(errorIn(output)).toMatchObject({ code: 'plan_invalid', details: { problems: [{ code: 'too_few' }] } });
  });

  it.each([
    ['no summary', { subtasks: [] }],
    ['a blank title', { summary: 'x', subtasks: [{ ...part, title: ' ' }] }],
    ['a title that is too long', { summary: 'x', subtasks: [{ ...part, title: 'x'.repeat(201) }] }],
    ['a description that is too long', { summary: 'x', subtasks: [{ ...part, description: 'x'.repeat(8_001) }] }],
    ['a number before the first', { summary: 'x', subtasks: [{ ...part, blocked_by: [0] }] }],
    ['more subtasks than any file allows', { summary: 'x', subtasks: Array.from({ length: 51 }, () => part) }],
    ['an unknown field', { summary: 'x', subtasks: [{ ...part, assignee: 'me' }] }],
  ])('refuse arguments with %s', async (_what, input) => {
    const { toolSet } = openTools(memory(), { onPlan: async () => ({ made: [] }) });
    const { success, output } = await toolSet.call('create_subtasks', input);
    expect([success, errorIn(output)?.code]).toEqual([false, 'invalid_tool_arguments']);
  });
});
