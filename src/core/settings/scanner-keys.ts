import { roleBudgetKeys } from './role-budget-keys.ts';
import { setting } from './setting.ts';

/** The section `scanner`: an agent that proposes improvements when there is nothing to do. There is none unless `scanner.enabled` is set. */
export const scannerKeys = {
  enabled: setting('boolean', false, 'at once', 'guarded', {
    description:
      'Whether an agent looks for improvements when there is nothing to do. Each scan costs one run. If both `scanner.runs_per_day` and `scanner.usd_per_day` are 0, no scan begins. Only on the [board](board.md); see [the scanner](scanner.md).',
  }),
  max_backlog: setting('natural_number', 10, 'at once', 'guarded_upwards', {
    description: 'While this many issues or more wait in the backlog, no scan begins. `0`: no scan ever begins.',
  }),
  cooldown_ms: setting('positive_integer', 86_400_000, 'at once', 'guarded', {
    description:
      'The pause between two scans. It begins when you have decided about every proposal of a scan, or when the scan failed. After each scan of which you accepted nothing, the pause is twice as long, at most 64 times as long as this.',
  }),
  agent: setting('non_blank_text', null, 'next run', 'guarded', {
    description: 'The agent that scans, by name: `default`, or one of `agents`.',
    defaultText: 'the agent of the project',
  }),
  max_issues: setting('positive_integer', 5, 'next run', 'guarded_upwards', {
    description: 'How many issues one scan may propose.',
  }),
  timeout_ms: setting('positive_integer', 900_000, 'at once', 'guarded_upwards', {
    description:
      'How long a scan may take. Then Baton stops it, and it counts as failed. Its agent may be silent in that time.',
  }),
  ...roleBudgetKeys('scanner', 1),
  prompt: setting('text', null, 'next run', 'open', {
    description: 'The prompt of the agent, as a template. Baton adds the open issues and the way to answer.',
    defaultText: 'built in',
  }),
};
