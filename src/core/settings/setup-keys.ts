import { roleBudgetKeys } from './role-budget-keys.ts';
import { setting } from './setting.ts';

/** The section `setup`: an agent that finds out how the repository is built and tested, when a person asks for it (`baton setup`). */
export const setupKeys = {
  agent: setting('non_blank_text', null, 'next run', 'guarded', {
    description: 'The agent that looks at the repository, by name: `default`, or one of `agents`.',
    defaultText: 'the agent of the project',
  }),
  timeout_ms: setting('positive_integer', 3_600_000, 'at once', 'guarded_upwards', {
    description:
      'How long a setup may take (1 hour), including the time in which Baton tries its commands. Then Baton stops it, and it counts as failed. Its agent may be silent in that time.',
  }),
  ...roleBudgetKeys('setup'),
  prompt: setting('text', null, 'next run', 'open', {
    description:
      'The prompt of the agent, as a template. Baton adds the commands that the file has now, and the way to answer.',
    defaultText: 'built in',
  }),
};
