import { mergeMethods } from '../pull/pull-request.ts';
import { choice, setting } from './setting.ts';

/** The section `review`: how a change is reviewed and merged. It counts with `agent.after_success: review`. */
export const reviewKeys = {
  host: setting(choice('local', 'github'), 'local', 'end of a run', 'guarded', {
    description:
      'Where pull requests are. `local`: in Baton itself, for a repository on this machine. `github`: on GitHub; see [pull requests](pull-requests.md#github).',
  }),
  repository: setting('text', null, 'end of a run', 'guarded', {
    description: 'The repository at the host, as `owner/name`. Required with `github`.',
    defaultText: 'none',
  }),
  api_url: setting('non_blank_text', 'https://api.github.com', 'end of a run', 'guarded', {
    description:
      'Address of the API of GitHub. For GitHub Enterprise Server: `https://HOST/api/v3`. https, or http on this machine.',
  }),
  token: setting('text', null, 'end of a run', 'guarded', {
    description:
      'The token for the host; write `$NAME` to take it from the environment. No agent, hook or check gets it.',
    defaultText: '`$GITHUB_TOKEN`, then `$GH_TOKEN`, then the login of the program `gh`',
    mayHoldSecret: true,
  }),
  push: setting('boolean', true, 'end of a run', 'guarded', {
    description:
      'Whether Baton pushes the branch of a change to the host. `false`: you push it, and Baton waits for it.',
  }),
  draft: setting('boolean', false, 'end of a run', 'open', {
    description: 'Whether pull requests at the host are opened as drafts.',
  }),
  labels: setting('text_list', [], 'end of a run', 'open', {
    description: 'Labels for new pull requests at the host.',
  }),
  reviewers: setting('text_list', [], 'end of a run', 'open', {
    description: 'People whose review is requested for new pull requests at the host; a team is `org/team`.',
  }),
  merge_method: setting(choice(...mergeMethods), 'merge', 'at once', 'open', {
    description: 'How a change enters its base.',
  }),
  auto_merge: setting('text_list', [], 'at once', 'guarded', {
    description:
      'Labels. Baton itself merges the change of an issue that has one of them, if the change is approved, its checks are green and its base has not moved; see [merging without a person](pull-requests.md#merging-without-a-person). Empty: people merge.',
  }),
  max_rounds: setting('positive_integer', 5, 'at once', 'guarded_upwards', {
    description:
      'After checks, conflicts and reviewers have sent a change back this many times, it stays in review for a person. If a person sends it back, the count starts again from 0.',
  }),
  checks: setting('check_list', [], 'end of a run', 'guarded', {
    description:
      'Commands that run on each change in a clean checkout of its commit, one at a time. If one fails, the change goes back to the agent.',
  }),
  auto_commit: setting('boolean', false, 'next run', 'guarded', {
    description:
      'If an agent leaves files uncommitted, Baton asks it once to commit them. If the agent still does not, Baton commits them (`true`) or holds the issue (`false`).',
  }),
  check_timeout_ms: setting('positive_integer', 900_000, 'end of a run', 'open', {
    description: 'How long a check may take (15 minutes), unless it has its own `timeout_ms`.',
  }),
};
