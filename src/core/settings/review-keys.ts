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
      'After a change was sent back this many times, a red check no longer sends it back: it stays in review for a person, who may always send it back.',
  }),
  checks: setting('check_list', [], 'end of a run', 'guarded', {
    description:
      'Commands that run on each change in a clean checkout of its commit, one at a time. A red one sends the change back to the agent.',
  }),
  auto_commit: setting('boolean', false, 'next run', 'guarded', {
    description:
      'Whether Baton commits what an agent still left uncommitted after it was asked once to commit it. Else the issue is held.',
  }),
  check_timeout_ms: setting('positive_integer', 900_000, 'end of a run', 'open', {
    description: 'How long a check may take (15 minutes), unless it has its own `timeout_ms`.',
  }),
};
