import { mergeMethods } from '../pull/pull-request.ts';
import { choice, setting } from './setting.ts';

/** The section `review`: how a change is reviewed and merged. It counts with `agent.after_success: review`. */
export const reviewKeys = {
  host: setting(choice('local', 'github'), 'local', 'end of a run', 'guarded', {
    description:
      'Where pull requests are. `local`: in Baton itself, for a repository on this machine. `github` is refused: this version does not have it.',
  }),
  merge_method: setting(choice(...mergeMethods), 'merge', 'at once', 'open', {
    description: 'How a change enters its base.',
  }),
  max_rounds: setting('positive_integer', 5, 'at once', 'guarded_upwards', {
    description:
      'After a change was sent back this many times, a red check no longer sends it back: it stays in review for a person.',
  }),
  checks: setting('check_list', [], 'end of a run', 'guarded', {
    description:
      'Commands that run on each change in a clean checkout of its commit, one at a time. A red one sends the change back to the agent.',
  }),
  auto_commit: setting('boolean', false, 'next run', 'guarded', {
    description:
      'Baton asks an agent once to commit what it left uncommitted. If the agent does not do it, `true` lets Baton commit it, and `false` holds the issue.',
  }),
  check_timeout_ms: setting('positive_integer', 900_000, 'end of a run', 'open', {
    description: 'How long a check may take (15 minutes), unless it has its own `timeout_ms`.',
  }),
};
