import path from 'node:path';
import { systemClock } from '../clock/system-clock.ts';
import type { Trial } from '../orchestrator/context.ts';
import { createLogger } from '../telemetry/create-logger.ts';
import { createDaemon } from './daemon.ts';
import { exitCodes } from './exit-codes.ts';
import { runDaemon } from './run-daemon.ts';
import { stateFolder } from './state-folder.ts';
import { listenForStop } from './stop-on-signal.ts';
import type { Surroundings } from './surroundings.ts';

export interface StartFlags {
  readonly json?: boolean;
  readonly port?: number;
  readonly logsRoot?: string;
  readonly stateDir?: string;
  readonly dryRun?: boolean;
  readonly only?: readonly string[];
  readonly maxRuns?: number;
}

/** `baton start`: takes tickets and runs agents until a signal, or a drain, says stop. */
export async function start(workflow: string, flags: StartFlags, surroundings: Surroundings): Promise<number> {
  if (flags.dryRun) {
    const { dryRun } = await import('./dry-run.ts');
    return dryRun(workflow, flags, surroundings);
  }
  using signals = listenForStop(systemClock, surroundings);
  const workflowPath = path.resolve(surroundings.cwd, workflow);
  const logsRoot = path.resolve(
    surroundings.cwd,
    flags.logsRoot ?? stateFolder(workflowPath, flags.stateDir, surroundings),
  );
  const { stderr, env } = surroundings;
  const { logger, close } = createLogger({
    clock: systemClock,
    file: { logsRoot },
    terminal: { stream: flags.json ? asPipe(stderr) : stderr, color: !env.NO_COLOR },
  });
  try {
    const trial = trialOf(flags);
    const options = { workflowPath, stateDir: flags.stateDir, trial, role: 'daemon', logger } as const;
    await using daemon = await createDaemon(options, surroundings);
    logger.info('Baton starts.', {
      version: surroundings.version,
      workflow: workflowPath,
      custody: daemon.custody.custody,
      logs: logsRoot,
    });
    if (flags.port !== undefined) {
      logger.warn('The HTTP API is not in this version; --port has no effect.', {
        code: 'unsupported_setting',
        port: flags.port,
      });
    }
    const how = await runDaemon(daemon, signals);
    if (how === 'at_once') logger.warn('Baton was ended by a second signal.');
    else logger.info('Baton has stopped; nothing is left running.');
    return how === 'at_once' ? exitCodes.error : exitCodes.ok;
  } finally {
    await close();
  }
}

/** The bounds of a trial; null when there are none. */
export function trialOf({ only, maxRuns }: StartFlags): Trial | null {
  if (only === undefined && maxRuns === undefined) return null;
  return { only: only ?? null, maxRuns: maxRuns ?? null };
}

/** The same stream, told as no terminal, so that the log writes JSON. */
function asPipe(stream: Surroundings['stderr']): Surroundings['stderr'] {
  return Object.create(stream, { isTTY: { value: false } });
}
