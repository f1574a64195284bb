import { roleBudgetKeys } from './role-budget-keys.ts';
import { setting } from './setting.ts';

/** The section `scanner`: an agent that proposes improvements when there is nothing to do. There is none unless `scanner.enabled` is set. */
export const scannerKeys = {
  enabled: setting('boolean', false, 'at once', 'guarded', {
    description:
      'Whether an agent looks for improvements when nothing is to be done. Each scan costs one run; without a limit in `scanner.runs_per_day` or `scanner.usd_per_day` there is none. Only on the [board](board.md); see [the scanner](scanner.md).',
  }),
  max_backlog: setting('natural_number', 10, 'at once', 'guarded_upwards', {
    description: 'There is no scan while this many issues or more wait in the backlog. `0`: there is never one.',
  }),
  cooldown_ms: setting('positive_integer', 86_400_000, 'at once', 'guarded', {
    description:
      'How long after a scan was decided about, or failed, the next one may begin. It doubles after each scan of which nothing was accepted, up to 64 times.',
  }),
  agent: setting('non_blank_text', null, 'next run', 'guarded', {
    description: 'The agent that scans, by name: `default`, or one of `agents`.',
    defaultText: 'the agent of the project',
  }),
  max_issues: setting('positive_integer', 5, 'next run', 'guarded_upwards', {
    description: 'How many issues one scan may propose.',
  }),
  timeout_ms: setting('positive_integer', 900_000, 'at once', 'guarded_upwards', {
    description: 'A scan that takes longer than this is stopped and has failed. Silence alone does not stop it.',
  }),
  ...roleBudgetKeys('scanner', 1),
  prompt: setting('text', null, 'next run', 'open', {
    description: 'The prompt of the agent, as a template. Baton adds the open issues and the way to answer.',
    defaultText: 'built in',
  }),
};
