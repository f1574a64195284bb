import type { CodexAgentOptions } from '../../agent/codex/codex-agent.ts';
import { codexProfile } from '../../agent/codex/profile.ts';
import type { AgentParts } from '../../agent/launch-agent.ts';
import { Secret } from '../../core/secret.ts';
import type { AccountSettings, Settings } from '../../core/settings.ts';
import type { ProcessDeps } from '../../process/start-child.ts';
import type { Surroundings } from '../surroundings.ts';

/** Codex as a run with this account would have it: the same command, policies and environment. */
export function codexParts(
  settings: Settings,
  account: AccountSettings,
  process: ProcessDeps,
  { env, version }: Surroundings,
): { readonly options: CodexAgentOptions; readonly parts: AgentParts } {
  const { approvals, readTimeoutMs, turnTimeoutMs } = settings.agent;
  return {
    options: { ...settings.codex, approvals, readTimeoutMs, turnTimeoutMs, version },
    parts: {
      ...process,
      daemonEnv: env,
      allowEnv: [...codexProfile.environment, ...settings.agent.env],
      denyEnv: [...settings.secretEnvironment, ...ofOtherAccounts(settings, account)],
      accountEnv: {
        ...Object.fromEntries(
          Object.entries(account.env).map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
        ),
        ...(account.home === null ? {} : { CODEX_HOME: account.home }),
      },
    },
  };
}

/** What other accounts of Codex set and this one does not: whatever this environment has there is theirs. */
function ofOtherAccounts({ agent }: Settings, account: AccountSettings): string[] {
  const others = agent.accounts.filter(({ backend, name }) => backend === account.backend && name !== account.name);
  return others.flatMap(({ env }) => Object.keys(env)).filter((name) => !Object.hasOwn(account.env, name));
}
