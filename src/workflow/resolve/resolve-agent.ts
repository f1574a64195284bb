import type { BackendProfile } from '../../core/backend-profile.ts';
import type { AgentSettings } from '../../core/settings.ts';
import type { ReadSettings } from '../table/read-settings.ts';
import type { SettingRow } from '../table/setting-table.ts';
import type { Place } from '../workflow-context.ts';
import { errorAt, type Report } from '../workflow-problems.ts';
import { byState } from './by-state.ts';
import { resolvePath } from './references.ts';
import { resolveAccounts } from './resolve-accounts.ts';
import { agentsByState } from './resolve-agents.ts';

interface ResolvedAgent {
  readonly settings: AgentSettings;
  /** Variables that hold keys of accounts. */
  readonly secretVariables: readonly string[];
}

interface AgentPlace extends Place {
  readonly backends: readonly BackendProfile[];
  readonly rows: readonly SettingRow[];
  /** Variables that hold Baton's own secrets. */
  readonly secrets: readonly string[];
}

/** The `agent` section. */
export function resolveAgent({ plain, given }: ReadSettings, place: AgentPlace, report: Report): ResolvedAgent {
  const { agent } = plain;
  const backend = agent.backend ?? '';
  checkBackend(backend, given, place, report);
  const { accounts, secretVariables } = resolveAccounts(agent.accounts ?? [], { ...place, backend }, report);
  reportSecretsHandedOn(agent.env, place.secrets, secretVariables, report);
  const limits = byState('agent.max_concurrent_agents_by_state', agent.maxConcurrentAgentsByState, report);
  const absolute = (each: string): string => resolvePath(each, place.workflowDir, place.surroundings);
  const isolation = {
    isolationRead: agent.isolationRead.map(absolute),
    isolationWrite: agent.isolationWrite.map(absolute),
  };
  const settings = {
    ...agent,
    ...isolation,
    backend,
    accounts,
    maxConcurrentAgentsByState: limits,
    byState: agentsByState(agent.byState),
  };
  return { settings, secretVariables };
}

function checkBackend(name: string, given: ReadonlySet<string>, { backends, rows }: AgentPlace, report: Report): void {
  const allowed = backends.map((backend) => backend.name);
  if (!allowed.includes(name)) {
    const message = `agent.backend is ${JSON.stringify(name)}; allowed: ${allowed.join(', ')}`;
    report(errorAt('agent.backend', message, { code: 'unsupported_agent_backend', allowed }));
    return;
  }
  for (const { key, path, required, code } of rows) {
    if (required !== true || path[1] !== name || given.has(key)) continue;
    const message = `${key} is missing; the backend ${name} needs it`;
    report(errorAt(key, message, { ...(code === undefined ? {} : { code }), problem: 'missing', backend: name }));
  }
}

/** No child process may see Baton's own secrets, not even on demand: strangers can write text that an agent reads. */
function reportSecretsHandedOn(
  names: readonly string[],
  secrets: readonly string[],
  ofAccounts: readonly string[],
  report: Report,
): void {
  for (const name of names) {
    if (secrets.includes(name)) {
      const message = `agent.env names ${name}, which contains one of Baton's own secrets, and no agent gets those`;
      report(errorAt('agent.env', message, { problem: 'secret_of_baton', variable: name }));
    } else if (ofAccounts.includes(name)) {
      const message = `agent.env names ${name}, which contains the secret of one account, so that agents of other accounts must not get it`;
      report(errorAt('agent.env', message, { problem: 'secret_of_account', variable: name }));
    }
  }
}
