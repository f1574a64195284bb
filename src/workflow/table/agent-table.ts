import type { AccountSettings, TokenPrice } from '../../core/settings.ts';
import { accountList, approvals, codexTools, percentage, priceTable } from './agent-types.ts';
import { setting } from './setting.ts';
import {
  anyInteger,
  environmentNames,
  flag,
  limitsByState,
  map,
  naturalNumber,
  nonBlankText,
  positiveInteger,
  text,
  textOrMap,
} from './setting-types.ts';

/** The keys of the section `agent`: who does the work, with whose quota, and when it is enough. */
export const agentTable = {
  'agent.backend': setting(text, 'codex', 'Which agent does the work.', {
    effective: (settings) => settings.agent.backend,
  }),
  'agent.command': setting(nonBlankText, null, 'The program of the backend `command`, as shell text.', {
    effective: (settings) => settings.agent.command,
  }),
  'agent.env': setting(environmentNames, [], 'Environment variables handed on to the agent beyond the usual ones.', {
    effective: (settings) => settings.agent.env,
  }),
  'agent.accounts': setting(
    accountList,
    null,
    'Whose quota the agents use: accounts of the backends, the first first.',
    {
      defaultText: 'one for each backend, named like it',
      effective: ({ agent }) => agent.accounts.map(describeAccount),
    },
  ),
  'agent.quota_stop_percent': setting(
    percentage,
    95,
    'From so much of a known quota on nothing new starts on its account.',
    { effective: (settings) => settings.agent.quotaStopPercent },
  ),
  'agent.approvals': setting(approvals, null, 'How Baton answers what an agent asks to be allowed.', {
    defaultText: 'ask, but auto when codex.approval_policy is never',
    effective: (settings) => settings.agent.approvals,
  }),
  'agent.ask_timeout_ms': setting(
    naturalNumber,
    900_000,
    'How long a question waits for a person while its agent lives; then its run ends and the issue is held.',
    { effective: (settings) => settings.agent.askTimeoutMs },
  ),
  'agent.max_idle_turns': setting(
    naturalNumber,
    3,
    'Turns in a row without a change and with the same last words, after which a run is ended; 0: never.',
    { effective: (settings) => settings.agent.maxIdleTurns },
  ),
  'agent.context_recovery.reduced_budget_tokens': setting(
    positiveInteger,
    null,
    'After a run died of its context: go on below so many tokens.',
    { effective: ({ agent }) => agent.contextRecovery.reducedBudgetTokens },
  ),
  'agent.context_recovery.compact': setting(flag, true, 'The next time: make the thread shorter, then go on.', {
    effective: ({ agent }) => agent.contextRecovery.compact,
  }),
  'agent.context_recovery.fresh_start': setting(flag, true, 'Then: a new thread with a summary of what was learned.', {
    effective: ({ agent }) => agent.contextRecovery.freshStart,
  }),
  'agent.context_recovery.larger_model': setting(nonBlankText, null, 'Then: a new thread with this model.', {
    effective: ({ agent }) => agent.contextRecovery.largerModel,
  }),
  'agent.prices': setting(
    priceTable,
    {},
    'US dollars for a million tokens by model, for agents that do not tell what they cost; `*`: any other model.',
    { effective: ({ agent }) => mapValues(agent.prices, describePrice) },
  ),
  'agent.max_concurrent_agents': setting(positiveInteger, 10, 'How many agents may work at the same time.', {
    effective: (settings) => settings.agent.maxConcurrentAgents,
  }),
  'agent.max_concurrent_agents_by_state': setting(limitsByState, {}, 'The same for single states of the issue.', {
    effective: (settings) => settings.agent.maxConcurrentAgentsByState,
  }),
  'agent.max_in_review': setting(naturalNumber, 0, 'With so many issues in review nothing new starts; 0: no limit.', {
    effective: (settings) => settings.agent.maxInReview,
  }),
  'agent.max_claimed': setting(naturalNumber, 0, 'With so many issues claimed nothing new starts; 0: no limit.', {
    effective: (settings) => settings.agent.maxClaimed,
  }),
  'agent.max_turns': setting(positiveInteger, 20, 'How many turns a run may have.', {
    effective: (settings) => settings.agent.maxTurns,
  }),
  'agent.max_retry_backoff_ms': setting(positiveInteger, 300_000, 'The longest wait before a failed run is repeated.', {
    effective: (settings) => settings.agent.maxRetryBackoffMs,
  }),
  'agent.max_retries': setting(naturalNumber, 3, 'Failures in a row after which an issue is held; 0: no limit.', {
    effective: (settings) => settings.agent.maxRetries,
  }),
  'agent.max_stale_runs': setting(
    naturalNumber,
    3,
    'Runs in a row that ended well and changed nothing, after which an issue is held; 0: never.',
    { effective: (settings) => settings.agent.maxStaleRuns },
  ),
  'agent.min_free_memory_mb': setting(naturalNumber, 250, 'With less free memory nothing new starts; 0: no check.', {
    effective: (settings) => settings.agent.minFreeMemoryMb,
  }),
  'agent.turn_timeout_ms': setting(positiveInteger, 3_600_000, 'The longest silence of an agent within a turn.', {
    effective: (settings) => settings.agent.turnTimeoutMs,
  }),
  'agent.turn_wall_time_ms': setting(naturalNumber, 0, 'The longest a turn may take; 0: no limit.', {
    effective: (settings) => settings.agent.turnWallTimeMs,
  }),
  'agent.read_timeout_ms': setting(positiveInteger, 5000, 'The longest wait for an answer while a session starts.', {
    effective: (settings) => settings.agent.readTimeoutMs,
  }),
  'agent.stall_timeout_ms': setting(
    anyInteger,
    300_000,
    'Silence after which a run counts as stalled; 0 or less: never.',
    {
      effective: (settings) => settings.agent.stallTimeoutMs,
    },
  ),
};

/** The keys of the section `codex`. */
export const codexTable = {
  'codex.command': setting(nonBlankText, 'codex app-server', 'How the Codex app server is started, as shell text.', {
    effective: (settings) => settings.codex.command,
  }),
  'codex.approval_policy': setting(
    textOrMap,
    { reject: { sandbox_approval: true, rules: true, mcp_elicitations: true } },
    'Handed on to Codex as it is.',
    { effective: (settings) => settings.codex.approvalPolicy },
  ),
  'codex.thread_sandbox': setting(text, 'workspace-write', 'Handed on to Codex as it is.', {
    effective: (settings) => settings.codex.threadSandbox,
  }),
  'codex.turn_sandbox_policy': setting(map, null, 'Handed on to Codex as it is.', {
    defaultText: 'made for each workspace',
    effective: (settings) => settings.codex.turnSandboxPolicy,
  }),
  'codex.tools': setting(codexTools, 'dynamic' as const, 'How Codex gets the tools of Baton.', {
    effective: (settings) => settings.codex.tools,
  }),
  'codex.turn_timeout_ms': setting(positiveInteger, null, 'Other spelling of `agent.turn_timeout_ms`, which wins.'),
  'codex.read_timeout_ms': setting(positiveInteger, null, 'Other spelling of `agent.read_timeout_ms`, which wins.'),
  'codex.stall_timeout_ms': setting(anyInteger, null, 'Other spelling of `agent.stall_timeout_ms`, which wins.'),
};

/** Without the values of variables: even one that does not look like a secret may be one. */
function describeAccount({ name, backend, env, home }: AccountSettings): Record<string, unknown> {
  return { name, backend, env: Object.keys(env), home };
}

function describePrice({ input, cachedInput, output }: TokenPrice): Record<string, unknown> {
  return { input, cached_input: cachedInput ?? input, output };
}

function mapValues<T, R>(values: Readonly<Record<string, T>>, change: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
