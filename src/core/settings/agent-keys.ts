import { choice, setting } from './setting.ts';

/** The section `agent`: which agent does the work, with whose quota, and when it is enough. A backend adds its own keys. */
export const agentKeys = {
  backend: setting('text', null, 'next run', 'guarded', { description: 'Which agent does the work.' }),
  env: setting('environment_names', [], 'next run', 'guarded', {
    description:
      'Environment variables that the agent gets beyond the usual ones. Secrets of the tracker and of accounts are refused.',
  }),
  accounts: setting('account_list', null, 'next run', 'guarded', {
    description: 'Whose quota the agents use; see [accounts](#accounts). The first that is not parked is taken.',
    defaultText: 'one for each backend, named like it',
    mayHoldSecret: true,
  }),
  quota_stop_percent: setting('percentage', 95, 'next tick', 'open', {
    description:
      "When this part of a known window of an account's quota is used, nothing new starts on the account until the next window begins; what runs goes on. 100: not before it is used up.",
  }),
  approvals: setting(choice('auto', 'deny', 'ask'), 'ask', 'next run', 'guarded', {
    description:
      'How Baton answers when an agent asks for permission: with yes, with no, or a person is asked (`baton ask list`).',
  }),
  ask_timeout_ms: setting('natural_number', 900_000, 'next run', 'open', {
    description:
      'How long a question waits for a person while its agent lives (15 minutes); then the run ends and the issue is held with the question, and an answer makes it go on. 0: not at all.',
  }),
  max_idle_turns: setting('natural_number', 3, 'next run', 'open', {
    description:
      'Turns in a row that changed nothing and ended with the same words, after which a run is ended as a stalemate. A turn in which the agent heard a person does not count. 0: never.',
  }),
  context_recovery: {
    reduced_budget_tokens: setting('positive_integer', null, 'next run', 'open', {
      description:
        'After a run died of its context window: the same again, with a conversation of at most this many tokens.',
    }),
    compact: setting('boolean', true, 'next run', 'open', {
      description: 'The next time: the thread is made shorter, then it goes on.',
    }),
    fresh_start: setting('boolean', true, 'next run', 'open', {
      description: 'Then: a new thread, which begins with a summary of what was learned.',
    }),
    larger_model: setting('non_blank_text', null, 'next run', 'open', {
      description: 'Then: a new thread with this model.',
    }),
  },
  prices: setting('price_table', {}, 'next run', 'guarded', {
    description: 'What tokens cost, for agents that do not report it; see [prices](#prices).',
  }),
  max_concurrent_agents: setting('positive_integer', 10, 'next tick', 'open', {
    description: 'How many agents may work at the same time.',
  }),
  max_concurrent_agents_by_state: setting('limits_by_state', {}, 'next tick', 'open', {
    description: 'The same for single states of the issue. Upper and lower case are the same.',
  }),
  max_in_review: setting('natural_number', 0, 'next poll', 'open', {
    description:
      'While this many issues are in a state of review (`tracker.review_states`) nothing new starts; what runs goes on. 0: no limit.',
  }),
  max_claimed: setting('natural_number', 0, 'next tick', 'open', {
    description: 'While this many issues are claimed (running, retrying or held) nothing new starts. 0: no limit.',
  }),
  max_turns: setting('positive_integer', 20, 'next run', 'open', { description: 'How many turns a run may have.' }),
  max_retry_backoff_ms: setting('positive_integer', 300_000, 'next retry', 'open', {
    description: 'The longest wait before a failed run is repeated.',
  }),
  max_retries: setting('natural_number', 3, 'end of a run', 'open', {
    description:
      'Failures in a row after which an issue is held for a person. A run that ends well sets the count back. 0: no limit.',
  }),
  max_stale_runs: setting('natural_number', 3, 'end of a run', 'open', {
    description:
      'Runs in a row that ended well and changed nothing, after which an issue is held for a person. 0: never.',
  }),
  min_free_memory_mb: setting('natural_number', 250, 'next tick', 'open', {
    description:
      'With less free memory than this nothing new starts; what runs goes on. The limit of a container counts, and files that the system keeps in memory count as free. 0: no check.',
  }),
  turn_timeout_ms: setting('positive_integer', 3_600_000, 'next run', 'open', {
    description: 'The longest silence of an agent within a turn. It does not limit the length of a turn.',
  }),
  turn_wall_time_ms: setting('natural_number', 0, 'next run', 'open', {
    description: 'The longest a turn may take. 0: no limit.',
  }),
  read_timeout_ms: setting('positive_integer', 5000, 'next run', 'open', {
    description: 'The longest wait for an answer while a session starts.',
  }),
  stall_timeout_ms: setting('integer', 300_000, 'next tick', 'open', {
    description: 'Silence after which a run counts as stalled. Zero or less switches the check off.',
  }),
};

const hourMs = 3_600_000;

/** The section `limits`: what may be spent; 0 switches a limit off. `core/run/limits.ts` has the rules. */
export const limitKeys = {
  runs_per_issue: setting('natural_number', 30, 'at once', 'guarded_upwards', {
    description: 'How many runs an issue may have. The last one may finish; the next is not started.',
  }),
  tokens_per_issue: setting('natural_number', 20_000_000, 'at once', 'guarded_upwards', {
    description: 'How many tokens an issue may use.',
  }),
  run_wall_time_ms: setting('natural_number', 4 * hourMs, 'at once', 'guarded_upwards', {
    description:
      'How long a run may take (4 hours), hooks included. Time in which it waits for a person is not counted.',
  }),
  issue_wall_time_ms: setting('natural_number', 24 * hourMs, 'at once', 'guarded_upwards', {
    description:
      'How long the runs of an issue may take together (24 hours). Waiting, also for a person, is not counted.',
  }),
  usd_per_issue: setting('usd_amount', 0, 'at once', 'guarded_upwards', {
    description: 'How much an issue may cost. Counts what the agent reports, otherwise by `agent.prices`.',
  }),
  tokens_per_day: setting('natural_number', 100_000_000, 'at once', 'guarded_upwards', {
    description: 'How many tokens all runs of a UTC day may use.',
  }),
  usd_per_day: setting('usd_amount', 0, 'at once', 'guarded_upwards', {
    description: 'How much all runs of a UTC day may cost.',
  }),
};
