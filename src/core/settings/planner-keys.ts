import { roleBudgetKeys } from './role-budget-keys.ts';
import { setting } from './setting.ts';

/** The section `planner`: an agent that splits large issues. There is none unless `planner.enabled` is set. */
export const plannerKeys = {
  enabled: setting('boolean', false, 'next run', 'guarded', {
    description:
      'Whether an issue with the label `planner.label` is split into smaller ones before anyone works on it. Each plan costs at least one run; see [the planner](planner.md).',
  }),
  label: setting('non_blank_text', 'needs-planning', 'next run', 'guarded', {
    description: 'The label of the issues that are to be split.',
  }),
  max_children: setting('positive_integer', 8, 'at once', 'guarded_upwards', {
    description: 'Into how many issues one issue may be split.',
  }),
  max_depth: setting('positive_integer', 1, 'at once', 'guarded_upwards', {
    description: 'How often an issue may be split again: `1` means that the parts of an issue are not split further.',
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
