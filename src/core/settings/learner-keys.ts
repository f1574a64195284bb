import { roleBudgetKeys } from './role-budget-keys.ts';
import { setting } from './setting.ts';

/** The section `learner`: what earlier work taught, for later agents. No agent looks for it unless `learner.enabled` is set. */
export const learnerKeys = {
  enabled: setting('boolean', false, 'at once', 'guarded', {
    description:
      'Whether an agent reads failed runs, rejections and notes of people now and then, and proposes what later agents should know. A person accepts it. Each time costs one run; without a limit in `learner.runs_per_day` or `learner.usd_per_day` there is none. See [learnings](learnings.md).',
  }),
  min_lessons: setting('natural_number', 5, 'at once', 'guarded', {
    description: 'How many failed runs, rejections and notes there must be since the last time.',
  }),
  cooldown_ms: setting('positive_integer', 86_400_000, 'at once', 'guarded', {
    description: 'How long after the last proposals were decided about, or a run failed, the next run may begin.',
  }),
  agent: setting('non_blank_text', null, 'next run', 'guarded', {
    description: 'The agent that proposes learnings, by name: `default`, or one of `agents`.',
    defaultText: 'the agent of the project',
  }),
  max_learnings: setting('positive_integer', 5, 'next run', 'guarded_upwards', {
    description: 'How many learnings one run may propose.',
  }),
  max_chars: setting('natural_number', 4_000, 'next run', 'guarded_upwards', {
    description: 'How many characters of learnings a prompt gets at most. `0`: agents get none.',
  }),
  trial_issues: setting('natural_number', 20, 'at once', 'open', {
    description:
      'A new learning goes to half of the issues until this many issues had it and as many had not. If the work on those that had it did not come back less often, it fades. `0`: it is kept without a trial.',
  }),
  timeout_ms: setting('positive_integer', 900_000, 'at once', 'guarded_upwards', {
    description:
      'A run of the learner that takes longer than this is stopped and has failed. Silence alone does not stop it.',
  }),
  ...roleBudgetKeys('learner', 1),
  prompt: setting('text', null, 'next run', 'open', {
    description:
      'The prompt of the agent, as a template. Baton adds what happened, the learnings so far and the way to answer.',
    defaultText: 'built in',
  }),
};
