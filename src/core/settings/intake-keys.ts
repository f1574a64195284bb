import { roleBudgetKeys } from './role-budget-keys.ts';
import { setting } from './setting.ts';

/** The section `intake`: an agent that turns a text into proposed issues, when a person asks for it (`baton intake`). */
export const intakeKeys = {
  agent: setting('non_blank_text', null, 'next run', 'guarded', {
    description: 'The agent that reads the text, by name: `default`, or one of `agents`.',
    defaultText: 'the agent of the project',
  }),
  max_issues: setting('positive_integer', 20, 'next run', 'guarded_upwards', {
    description: 'How many issues one intake may propose.',
  }),
  timeout_ms: setting('positive_integer', 900_000, 'at once', 'guarded_upwards', {
    description:
      'How long an intake may take. Then Baton stops it, and it counts as failed. Its agent may be silent in that time.',
  }),
  ...roleBudgetKeys('intake'),
  prompt: setting('text', null, 'next run', 'open', {
    description: 'The prompt of the agent, as a template. Baton adds the text, the open issues and the way to answer.',
    defaultText: 'built in',
  }),
};
