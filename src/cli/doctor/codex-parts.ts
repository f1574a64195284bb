import type { CodexAgentOptions } from '../../agent/codex/codex-agent.ts';
import type { AgentParts } from '../../agent/launch-agent.ts';
import type { AccountSettings, Settings } from '../../core/settings.ts';
import { agentVariables, codexOptions } from '../../daemon/adapters.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { ProcessDeps } from '../../process/start-child.ts';

/** Codex as a run with this account would have it: the same command, policies and environment. */
export function codexParts(
  settings: Settings,
  account: AccountSettings,
  process: ProcessDeps,
  surroundings: Surroundings,
): { readonly options: CodexAgentOptions; readonly parts: AgentParts } {
  return {
    options: codexOptions(settings, surroundings),
    parts: { ...process, daemonEnv: surroundings.env, ...agentVariables(settings, account) },
  };
}
