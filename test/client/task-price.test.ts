import { describe, expect, it } from 'vitest';
import { taskPriceText } from '../../src/client/task-price.ts';
import { telling } from '../telling.ts';

const today = { tokens: 0, cost_usd: 0.5, token_limit: null, cost_limit_usd: 100 };
const budget = { role: 'intake', runs: 2, runs_limit: 5, cost_usd: 0.25, cost_limit_usd: 3, used_up: false };

describe('the price of a task', () => {
  // @conforms budget.2
  it('says what is used of the budget of its role and of all agents', () => {
    const text = taskPriceText('intake', { today: { ...today, roles: [budget] } });
    expect(text).toEqual(telling(2, 5, 'intake.runs_per_day', '$0.25', '$3.00', 'intake.usd_per_day'));
    expect(text).toEqual(telling('$0.50', '$100.00', 'limits.usd_per_day'));
  });

  // @conforms budget.2
  it('says nothing about the budget of another role, nor about money that no one knows', () => {
    const text = taskPriceText('setup', { today: { ...today, tokens: 9, cost_usd: 0, roles: [budget] } });
    expect(text).not.toContain('intake');
    expect(text).toEqual(telling('agent.prices'));
  });

  it('names the agent where the file has several, and nothing that only a daemon knows', () => {
    const task_agents = { intake: 'reader', scan: 'default', setup: 'default', learn: 'default' };
    expect(taskPriceText('intake', { today, task_agents })).toEqual(telling('"reader"'));
    expect(taskPriceText('scan', null)).not.toContain('$');
  });
});
