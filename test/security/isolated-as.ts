import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AgentBackend } from '../../src/agent/backend.ts';
import type { AgentParts } from '../../src/agent/launch-agent.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import type { Settings } from '../../src/core/settings.ts';
import { isolationOfAgent, openIsolation } from '../../src/daemon/compose-isolation.ts';
import type { Surroundings } from '../../src/daemon/surroundings.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { settings } from '../fake/settings.ts';

/** What a daemon with its state in this folder shows to an agent of this backend. */
export async function isolatedAs(
  backend: AgentBackend,
  folder: string,
  { clock, daemonId, daemonEnv }: Pick<AgentParts, 'clock' | 'daemonId' | 'daemonEnv'>,
  changes: Partial<Settings> = {},
): Promise<NonNullable<AgentParts['isolate']>> {
  const homeDir = path.join(folder, 'user-home');
  const surroundings = {
    ...{ clock, chance: systemChance, env: daemonEnv, homeDir, nodePath: process.execPath },
    agentProgram: () => pathToFileURL(path.join(import.meta.dirname, '../../src/agent/program.ts')),
  } as unknown as Surroundings;
  const wanted = { ...settings({ workspace: { root: path.join(folder, 'workspaces') } }), ...changes };
  const place = { workflowPath: path.join(folder, 'project/WORKFLOW.md'), stateDir: path.join(folder, 'state') };
  const { isolationFor } = await openIsolation(
    {
      ...place,
      process: { clock, containment: 'user_pid_namespace', daemonId, daemonEnv },
      settings: wanted,
      logger: memoryLogger(),
    },
    surroundings,
  );
  const account = { name: 'default', backend: backend.name, env: {}, home: null };
  const withAnyCommand = { ...backend, needs: () => backend.needs(null) };
  return isolationOfAgent(isolationFor(wanted), withAnyCommand, wanted, account, surroundings);
}
