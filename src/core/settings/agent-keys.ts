import { choice, setting } from './setting.ts';

/** Agents by name. The section `agent` is the default agent; its values apply where a named agent sets none. */
export const agentsKey = setting('agent_table', {}, 'next run', 'guarded', {
  description:
    'Further agents by name, for issues with the label `agent:<name>`, for states (`agent.by_state`) and for `baton issue retry --agent`; see [agents](agents/choosing.md).',
  mayHoldSecret: true,
});

/** The section `agent`: which agent does the work, whose quota it uses, and when a run ends. A backend adds its own keys. */
export const agentKeys = {
  backend: setting('text', null, 'next run', 'guarded', { description: 'Which agent does the work.' }),
  stand_in: setting('non_blank_text', null, 'next run', 'guarded', {
    description:
      'The name of another agent in `agents`. It replaces this one while no account of this one is ready (logged in, with quota left), and on issues where this one failed twice in a row.',
  }),
  by_state: setting('names_by_state', {}, 'next tick', 'guarded', {
    description:
      'Which agent of `agents` works on an issue in this state. Upper and lower case are the same. A label `agent:<name>` wins.',
  }),
  env: setting('environment_names', [], 'next run', 'guarded', {
    description:
      'Environment variables that the agent gets in addition to the usual ones. Secrets of the tracker and of accounts are refused.',
  }),
  isolation: setting(choice('namespaces', 'none'), 'namespaces', 'next run', 'guarded', {
    description:
      'What agents and hooks see of the machine. `namespaces`: their workspace, the repository (read-only) and tool chains, not your other files; see [isolation](isolation.md). `none`: everything that you see. If this machine cannot isolate agents, Baton warns and works as with `none`; `baton doctor` says why.',
  }),
  isolation_required: setting('boolean', false, 'next run', 'guarded', {
    description:
      'Start no agent if this machine cannot isolate it as `agent.isolation` says. With `false`, Baton warns and starts it without isolation.',
  }),
  isolation_read: setting('path_list', [], 'next run', 'guarded', {
    description: 'Further files and folders that agents and hooks may read.',
  }),
  isolation_write: setting('path_list', [], 'next run', 'guarded', {
    description: 'Further files and folders that agents and hooks may read and write.',
  }),
  accounts: setting('account_list', null, 'next run', 'guarded', {
    description:
      'The logins whose quota the agents use; see [accounts](#accounts). Baton takes the first account that has quota and a login.',
    defaultText: 'one account for each backend, with the name of the backend',
    mayHoldSecret: true,
  }),
  quota_stop_percent: setting('percentage', 95, 'next tick', 'guarded_upwards', {
    description:
      'When an agent reports that its account has used this percentage of a quota window, no new run starts on the account until the next window begins; live runs continue. 100: only when the window is used up.',
  }),
  approvals: setting(choice('auto', 'deny', 'ask'), 'ask', 'next run', 'guarded', {
    description:
      'What Baton does when an agent asks for permission. `auto`: it says yes. `deny`: it says no. `ask`: it asks a person (`baton ask list`).',
  }),
  ask_timeout_ms: setting('natural_number', 900_000, 'next run', 'open', {
    description:
      'How long a live agent waits for an answer (15 minutes). Then the run ends and the issue is held with the question; an answer continues it. 0: the run ends at once.',
  }),
  max_idle_turns: setting('natural_number', 3, 'next run', 'guarded_upwards', {
    description:
      'After this many turns in a row that changed nothing and ended with the same message, Baton ends the run and holds the issue. A turn in which a person spoke to the agent does not count. 0: never.',
  }),
  context_recovery: {
    reduced_budget_tokens: setting('positive_integer', null, 'next run', 'open', {
      description:
        'First step after a run filled its context window: try again with a conversation of at most this many tokens.',
    }),
    compact: setting('boolean', true, 'next run', 'open', {
      description: 'Next step: shorten the thread and continue in it.',
    }),
    fresh_start: setting('boolean', true, 'next run', 'open', {
      description: 'Next step: start a new thread that begins with a summary of the work so far.',
    }),
    larger_model: setting('non_blank_text', null, 'next run', 'open', {
      description: 'Last step: start a new thread with this model.',
    }),
  },
  prices: setting('price_table', {}, 'next run', 'guarded', {
    description:
      'The price of tokens, for agents that do not report their cost. It replaces a known price; see [prices](#prices).',
  }),
  max_concurrent_agents: setting('positive_integer', 10, 'next tick', 'guarded_upwards', {
    description: 'How many agents may work at the same time.',
  }),
  max_concurrent_agents_by_state: setting('limits_by_state', {}, 'next tick', 'guarded_upwards', {
    description: 'The same limit for single states of the issue. Upper and lower case are the same.',
  }),
  max_in_review: setting('natural_number', 0, 'next poll', 'guarded_upwards', {
    description:
      'While this many issues are in a review state (`tracker.review_states`), no new issue starts; claimed issues continue. 0: no limit.',
  }),
  max_claimed: setting('natural_number', 0, 'next tick', 'guarded_upwards', {
    description: 'While this many issues are claimed (running, retrying or held), no new issue starts. 0: no limit.',
  }),
  after_success: setting(choice('continue', 'review'), 'continue', 'end of a run', 'open', {
    description:
      'What follows a run that ended well. `continue`: the next run, while the issue is active. `review`: its commits become a pull request, and the issue moves to review; it needs `workspace.repo`. See [review](scheduling.md#review).',
  }),
  max_turns: setting('positive_integer', 20, 'next run', 'guarded_upwards', {
    description: 'How many turns a run may have.',
  }),
  max_retry_backoff_ms: setting('positive_integer', 300_000, 'next retry', 'open', {
    description: 'The longest wait before Baton repeats a failed run.',
  }),
  max_retries: setting('natural_number', 3, 'end of a run', 'guarded_upwards', {
    description:
      'After this many failures in a row, the issue is held for a person. A run that succeeds resets the count. 0: no limit.',
  }),
  max_stale_runs: setting('natural_number', 3, 'end of a run', 'guarded_upwards', {
    description:
      'After this many successful runs in a row that changed nothing, the issue is held for a person. 0: never.',
  }),
  min_free_memory_mb: setting('natural_number', 250, 'next tick', 'open', {
    description:
      'With less free memory than this, no new run starts; live runs continue. In a container its memory limit counts. Memory that the system uses to cache files counts as free. 0: no check.',
  }),
  turn_timeout_ms: setting('positive_integer', 3_600_000, 'next run', 'guarded_upwards', {
    description: 'How long an agent may be silent within a turn. This does not limit the length of a turn.',
  }),
  turn_wall_time_ms: setting('natural_number', 0, 'next run', 'guarded_upwards', {
    description: 'How long a turn may take. 0: no limit.',
  }),
  shutdown_timeout_ms: setting('positive_integer', 30_000, 'at once', 'open', {
    description: 'How long a stop of Baton waits for running agents. Then it ends those that are left.',
  }),
  read_timeout_ms: setting('positive_integer', 5000, 'next run', 'open', {
    description: 'How long Baton waits for each answer of the agent while a session starts.',
  }),
  stall_timeout_ms: setting('integer', 300_000, 'next tick', 'guarded_upwards', {
    description: 'A run that is silent for this long counts as stalled. Zero or less switches the check off.',
  }),
};

const hourMs = 3_600_000;

/** The section `limits`: what may be spent; 0 switches a limit off. `core/run/limits.ts` has the rules. */
export const limitKeys = {
  runs_per_issue: setting('natural_number', 30, 'at once', 'guarded_upwards', {
    description: 'How many runs an issue may have. The last one may finish; no further one starts.',
  }),
  tokens_per_issue: setting('natural_number', 20_000_000, 'at once', 'guarded_upwards', {
    description: 'How many tokens an issue may use.',
  }),
  run_wall_time_ms: setting('natural_number', 4 * hourMs, 'at once', 'guarded_upwards', {
    description:
      'How long a run may take (4 hours), including hooks. Time in which it waits for a person does not count.',
  }),
  issue_wall_time_ms: setting('natural_number', 24 * hourMs, 'at once', 'guarded_upwards', {
    description: 'How long the runs of an issue may take together (24 hours). Waiting times do not count.',
  }),
  usd_per_issue: setting('usd_amount', 0, 'at once', 'guarded_upwards', {
    description: 'How much an issue may cost. Baton uses the cost that the agent reports, otherwise [prices](#prices).',
  }),
  tokens_per_day: setting('natural_number', 100_000_000, 'at once', 'guarded_upwards', {
    description: 'How many tokens all runs of a UTC day may use.',
  }),
  usd_per_day: setting('usd_amount', 100, 'at once', 'guarded_upwards', {
    description:
      'How much all runs of a UTC day may cost, where the agent reports a cost or the model has a [price](#prices).',
  }),
};
