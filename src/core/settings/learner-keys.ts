import { roleBudgetKeys } from './role-budget-keys.ts';
import { setting } from './setting.ts';

/** The section `learner`: what earlier work taught, for later agents. No agent looks for it unless `learner.enabled` is set. */
export const learnerKeys = {
  enabled: setting('boolean', false, 'at once', 'guarded', {
    description:
      'Whether an agent sometimes reads failed runs, rejections and notes of people, and proposes what later agents should know. A person decides about each proposal. Each time costs one run. If both `learner.runs_per_day` and `learner.usd_per_day` are 0, the learner never runs. See [learnings](learnings.md).',
  }),
  min_lessons: setting('natural_number', 5, 'at once', 'guarded', {
    description: 'The learner runs only after at least this many new failed runs, rejections and notes.',
  }),
  cooldown_ms: setting('positive_integer', 86_400_000, 'at once', 'guarded', {
    description:
      'The pause between two runs of the learner. It begins when you have decided about every proposal of a run, or when the run failed.',
  }),
  agent: setting('non_blank_text', null, 'next run', 'guarded', {
    description: 'The agent that proposes learnings, by name: `default`, or one of `agents`.',
    defaultText: 'the agent of the project',
  }),
  max_learnings: setting('positive_integer', 5, 'next run', 'guarded_upwards', {
    description: 'How many learnings one run may propose.',
  }),
  max_chars: setting('natural_number', 4_000, 'next run', 'guarded_upwards', {
    description: 'How many characters of learnings a prompt may contain. `0`: agents get no learnings.',
  }),
  trial_issues: setting('natural_number', 20, 'at once', 'open', {
    description:
      'Half of the issues get a new learning, and half do not, until this many issues of each half have handed in work. If the work of the half with the learning was not sent back less often, the learning fades. `0`: Baton keeps each learning without a trial.',
  }),
  timeout_ms: setting('positive_integer', 900_000, 'at once', 'guarded_upwards', {
    description:
      'How long a run of the learner may take. Then Baton stops it, and it counts as failed. Its agent may be silent in that time.',
  }),
  ...roleBudgetKeys('learner', 1),
  prompt: setting('text', null, 'next run', 'open', {
    description:
      'The prompt of the agent, as a template. Baton adds what happened, the learnings so far and the way to answer.',
    defaultText: 'built in',
  }),
};
