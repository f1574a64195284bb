import { roleBudgetKeys } from './role-budget-keys.ts';
import { choice, setting } from './setting.ts';

/** The section `judge`: agents that review a change before people do. There is none unless `judge.agents` names one. */
export const judgeKeys = {
  agents: setting('name_list', [], 'next run', 'guarded', {
    description:
      'The agents that judge changes, by name: `default`, or one of `agents`. Empty: no judge. Each verdict costs a run; see [the judge](judge.md).',
  }),
  count: setting('positive_integer', 1, 'next run', 'guarded_upwards', {
    description: 'How many verdicts a commit needs. The agents of `judge.agents` take turns.',
  }),
  decides: setting(choice('any_reject', 'majority'), 'any_reject', 'next run', 'guarded', {
    description:
      'Which verdicts reject a change. `any_reject`: one rejection. `majority`: rejections in at least half of the verdicts.',
  }),
  max_rounds: setting('positive_integer', 3, 'at once', 'guarded_upwards', {
    description:
      'After a judge has sent a change back this many times, a person decides. If a person sends it back, the count starts again from 0.',
  }),
  without_verdict: setting(choice('hold', 'todo'), 'hold', 'at once', 'open', {
    description:
      'What happens to an issue whose judge gave no verdict three times: it is held, or it goes back to its agent.',
  }),
  extra_slots_percent: setting('natural_number', 25, 'at once', 'guarded', {
    description:
      'Extra slots for judges, in percent of `agent.max_concurrent_agents`: rounded down, and at least one. `0`: no extra slots.',
  }),
  counts_at_host: setting('boolean', false, 'at once', 'guarded', {
    description:
      'Whether a verdict counts on GitHub as an approval or as a request for changes. `false`: it is a comment, and people approve.',
  }),
  ...roleBudgetKeys('judge'),
  prompt: setting('text', null, 'next run', 'guarded', {
    description: 'The prompt of the judge, as a template.',
    defaultText: 'built in',
  }),
};
