import path from 'node:path';
import { commandSettings } from '../../agent/command/command-agent.ts';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import type { Settings } from '../../core/settings.ts';
import { workflowContext } from '../../daemon/adapters.ts';
import { stateFolder } from '../../daemon/state-folder.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { childEnvironment, usualVariables } from '../../process/child-environment.ts';
import { freeMemoryMb } from '../../process/free-memory.ts';
import { runToEnd } from '../../process/run-to-end.ts';
import { inspectWorkflow } from '../../workflow/inspect-workflow.ts';
import { checkCodex } from './check-codex.ts';
import { checkFolder } from './check-folder.ts';
import { checkRepository } from './check-repository.ts';
import { checkTracker } from './check-tracker.ts';
import { type Finding, ill, megabytes, well } from './finding.ts';

/** What one workflow file needs: a usable file, its folders, its repository, its tracker, its agent. */
export async function checkWorkflow(workflow: string, surroundings: Surroundings): Promise<Finding[]> {
  const file = path.resolve(surroundings.cwd, workflow);
  const { workflow: loaded, problems } = inspectWorkflow(file, workflowContext(surroundings));
  const errors = problems.filter(({ severity }) => severity === 'error');
  const mend = `baton validate '${file}'`;
  if (loaded === null || errors.length > 0) {
    const message = `${file}: ${errors.map((error) => `${error.message} [${error.code}]`).join('; ')}`;
    return [ill('workflow_file', message, mend, { code: 'unusable', path: file, problems: errors })];
  }
  const { workspace, agent } = loaded.settings;
  return [
    well('workflow_file', file),
    await checkFolder('workspace_root', workspace.root, workspace.minFreeDiskMb),
    await checkFolder('state_folder', stateFolder(file, undefined, surroundings), workspace.minFreeDiskMb),
    ...(await checkRepository(loaded, surroundings)),
    ...(await checkTracker(loaded.settings, surroundings)),
    await checkMemory(agent.minFreeMemoryMb),
    ...(await checkAgent(loaded.settings, surroundings)),
  ];
}

async function checkMemory(floorMb: number): Promise<Finding> {
  const free = await freeMemoryMb();
  const floor = floorMb === 0 ? '' : `; nothing starts below ${megabytes(floorMb)} (agent.min_free_memory_mb)`;
  const message = `${megabytes(free)} free${floor}`;
  const facts = { free_mb: free, least_mb: floorMb };
  if (free >= floorMb) return well('memory', message, facts);
  const mend = 'end other programs, or lower agent.min_free_memory_mb';
  return ill('memory', message, mend, { code: 'low_memory', ...facts });
}

async function checkAgent(settings: Settings, surroundings: Surroundings): Promise<readonly Finding[]> {
  const { backend } = settings.agent;
  if (backend === 'codex') return checkCodex(settings, surroundings);
  if (backend === 'rehearsal') return [well('agent_program', 'rehearsal: comes with Baton')];
  return [await checkProgram(settings, surroundings)];
}

/**
 * A command is shell text; its first word that is no assignment is the program, and most often the one that is missing.
 * The shell that will run it is asked, for it also knows `exec`, `cd` and the like.
 */
async function checkProgram(settings: Settings, surroundings: Surroundings): Promise<Finding> {
  const { backend } = settings.agent;
  const words = (commandSettings(settings).command ?? '').trim().split(/\s+/);
  const program = words.find((word) => !/^[A-Za-z_]\w*=/.test(word)) ?? '';
  const check = 'agent_program';
  if (!/^[\w./+@:-]+$/.test(program))
    return well(check, `${backend}: shell text that only a run can try: ${program}`, { code: 'not_tried' });
  const { code, stdout } = await runToEnd(
    {
      command: 'sh',
      args: ['-c', 'command -v "$1"', 'sh', program],
      cwd: surroundings.cwd,
      env: childEnvironment({ from: surroundings.env, allow: usualVariables, deny: [] }),
      runId: systemChance.id(),
      timeoutMs: 10_000,
    },
    { clock: systemClock, custody: 'group_only', daemonId: systemChance.id() },
  );
  if (code === 0) return well(check, `${backend}: ${stdout.trim()}`);
  const mend = `install ${program}, or mend the command in the workflow file`;
  return ill(check, `${backend}: "${program}" is not on the PATH`, mend, { code: 'not_on_path', program });
}
