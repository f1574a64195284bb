import type { BackendProfile } from '../../core/backend-profile.ts';
import type { AgentSettings } from '../../core/settings.ts';
import type { Surroundings } from '../surroundings.ts';
import { readByState } from '../table/read-by-state.ts';
import type { ReadSettings } from '../table/read-settings.ts';
import { errorAt, type Report } from '../workflow-problems.ts';
import { resolveAccounts } from './resolve-accounts.ts';

interface ResolvedAgent {
  readonly settings: AgentSettings;
  readonly origins: ReadonlyMap<string, string>;
  /** Variables that hold keys of accounts. */
  readonly secretVariables: readonly string[];
}

interface AgentPlace {
  readonly workflowDir: string;
  readonly surroundings: Surroundings;
  readonly backends: readonly BackendProfile[];
  /** Variables that hold secrets of Baton's own. */
  readonly secrets: readonly string[];
}

type Timeout = 'turn_timeout_ms' | 'read_timeout_ms' | 'stall_timeout_ms';

/** The `agent` section, with the three timeouts that the specification spells under `codex`. */
export function resolveAgent(read: ReadSettings, place: AgentPlace, report: Report): ResolvedAgent {
  const { values } = read;
  const origins = new Map<string, string>();
  checkBackend(read, place.backends, report);
  const { accounts, secretVariables } = resolveAccounts(
    values['agent.accounts'] ?? [],
    { ...place, backend: values['agent.backend'] },
    report,
  );
  reportSecretsHandedOn(values['agent.env'], place.secrets, secretVariables, report);
  const timeout = (name: Timeout): number => {
    const other = values[`codex.${name}`];
    if (read.given.has(`agent.${name}`) || other === null) return values[`agent.${name}`];
    origins.set(`agent.${name}`, `file (other spelling codex.${name})`);
    return other;
  };
  return {
    settings: {
      backend: values['agent.backend'],
      command: values['agent.command'],
      env: values['agent.env'],
      accounts,
      quotaStopPercent: values['agent.quota_stop_percent'],
      approvals: readApprovals(read, origins),
      askTimeoutMs: values['agent.ask_timeout_ms'],
      maxIdleTurns: values['agent.max_idle_turns'],
      turnWallTimeMs: values['agent.turn_wall_time_ms'],
      contextRecovery: {
        reducedBudgetTokens: values['agent.context_recovery.reduced_budget_tokens'],
        compact: values['agent.context_recovery.compact'],
        freshStart: values['agent.context_recovery.fresh_start'],
        largerModel: values['agent.context_recovery.larger_model'],
      },
      prices: values['agent.prices'],
      maxConcurrentAgents: values['agent.max_concurrent_agents'],
      maxConcurrentAgentsByState: readByState(values, 'agent.max_concurrent_agents_by_state', report),
      maxInReview: values['agent.max_in_review'],
      maxClaimed: values['agent.max_claimed'],
      maxTurns: values['agent.max_turns'],
      maxRetryBackoffMs: values['agent.max_retry_backoff_ms'],
      maxRetries: values['agent.max_retries'],
      maxStaleRuns: values['agent.max_stale_runs'],
      minFreeMemoryMb: values['agent.min_free_memory_mb'],
      turnTimeoutMs: timeout('turn_timeout_ms'),
      readTimeoutMs: timeout('read_timeout_ms'),
      stallTimeoutMs: timeout('stall_timeout_ms'),
    },
    origins,
    secretVariables,
  };
}

/** Who tells Codex to ask for nothing does not want to be asked by Baton either. */
function readApprovals({ values }: ReadSettings, origins: Map<string, string>): AgentSettings['approvals'] {
  const written = values['agent.approvals'];
  if (written !== null) return written;
  if (values['codex.approval_policy'] !== 'never') return 'ask';
  origins.set('agent.approvals', 'default, as codex.approval_policy is never');
  return 'auto';
}

function checkBackend({ values, given }: ReadSettings, backends: readonly BackendProfile[], report: Report): void {
  const key = 'agent.backend';
  const name = values[key];
  const backend = backends.find((candidate) => candidate.name === name);
  if (backend === undefined) {
    const allowed = backends.map((candidate) => candidate.name);
    const message = `${key} is ${JSON.stringify(name)}; allowed: ${allowed.join(', ')}`;
    report(errorAt(key, message, { code: 'unsupported_agent_backend', allowed }));
    return;
  }
  const written: ReadonlySet<string> = given;
  for (const required of backend.requiredKeys.filter((candidate) => !written.has(candidate))) {
    const message = `${required} is missing; the backend ${name} needs it`;
    report(errorAt(required, message, { code: 'missing_agent_command', problem: 'missing', backend: name }));
  }
}

/** No child process may see Baton's own secrets, not even on demand: an agent is told what to do by strangers. */
function reportSecretsHandedOn(
  names: readonly string[],
  secrets: readonly string[],
  ofAccounts: readonly string[],
  report: Report,
): void {
  for (const name of names) {
    if (secrets.includes(name)) {
      const message = `agent.env names ${name}, which holds a secret of Baton's own and goes to no agent`;
      report(errorAt('agent.env', message, { problem: 'secret_of_baton', variable: name }));
    } else if (ofAccounts.includes(name)) {
      const message = `agent.env names ${name}, which holds a secret of an account and goes to no other agent`;
      report(errorAt('agent.env', message, { problem: 'secret_of_account', variable: name }));
    }
  }
}
