import { roleBudgetKeys } from './role-budget-keys.ts';
import { setting } from './setting.ts';

/** The section `planner`: an agent that splits large issues. There is none unless `planner.enabled` is set. */
export const plannerKeys = {
  enabled: setting('boolean', false, 'next run', 'guarded', {
    description:
      'Whether Baton lets an agent split an issue with the label `planner.label` into smaller ones, before any work on it. Each plan costs at least one run; see [the planner](planner.md).',
  }),
  label: setting('non_blank_text', 'needs-planning', 'next run', 'guarded', {
    description: 'The label of the issues that are to be split.',
  }),
  max_children: setting('positive_integer', 8, 'at once', 'guarded_upwards', {
    description: 'How many parts an issue may be split into.',
  }),
  max_depth: setting('positive_integer', 1, 'at once', 'guarded_upwards', {
    description:
      'How many levels of parts an issue may have. `1`: its parts are not split further. `2`: its parts may be split once more.',
  }),
  agent: setting('text', null, 'next run', 'guarded', {
    description: 'The agent that plans, by name: `default`, or one of `agents`.',
    defaultText: 'the agent of the issue',
  }),
  ...roleBudgetKeys('planner', 20),
  prompt: setting('text', null, 'next run', 'open', {
    description: 'The prompt of the planner, as a template.',
    defaultText: 'built in',
  }),
};
