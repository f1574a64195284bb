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
      'Labels of issues whose changes Baton merges itself: approved, with green checks, onto a base that has not moved; see [merging without a person](pull-requests.md#merging-without-a-person). Empty: people merge.',
  }),
  max_rounds: setting('positive_integer', 5, 'at once', 'guarded_upwards', {
    description:
      'After checks, conflicts and reviewers sent a change back this many times, it stays in review for a person. A person who sends it back resets the count.',
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
