import path from 'node:path';
import { systemClock } from '../clock/system-clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { Trial } from '../orchestrator/context.ts';
import { createSlotPool } from '../orchestrator/slot-pool.ts';
import { createLogger } from '../telemetry/create-logger.ts';
import { createDaemon } from './daemon.ts';
import { exitCodes } from './exit-codes.ts';
import { reportError } from './report-error.ts';
import { type DaemonEnd, runDaemon } from './run-daemon.ts';
import { refuseClashes } from './start/refuse-clashes.ts';
import { startSeveral } from './start/start-several.ts';
import { stateFolder } from './state-folder.ts';
import { listenForStop, type StopSignals } from './stop-on-signal.ts';
import type { Surroundings } from './surroundings.ts';

export interface StartFlags {
  readonly json?: boolean;
  readonly port?: number;
  readonly logsRoot?: string;
  readonly stateDir?: string;
  readonly dryRun?: boolean;
  readonly only?: readonly string[];
  readonly maxRuns?: number;
  readonly maxAgents?: number;
}

/** `baton start`: takes tickets and runs agents until a signal, or a drain, says stop. */
export async function start(
  workflows: readonly [string, ...string[]],
  flags: StartFlags,
  surroundings: Surroundings,
): Promise<number> {
  const paths = workflows.map((workflow) => path.resolve(surroundings.cwd, workflow));
  if (paths.length > 1) {
    refuseOneStateFolder(flags);
    refuseClashes(paths, surroundings);
  }
  if (flags.dryRun) {
    const { dryRun } = await import('./dry-run.ts');
    return dryRun(workflows, flags, surroundings);
  }
  using signals = listenForStop(systemClock, surroundings);
  // Several projects have one log: with the state of the first, which this Baton has to itself.
  const ownFolder = stateFolder(path.resolve(surroundings.cwd, workflows[0]), flags.stateDir, surroundings);
  const logsRoot = path.resolve(surroundings.cwd, flags.logsRoot ?? ownFolder);
  const { stderr, env } = surroundings;
  const { logger, close } = createLogger({
    clock: systemClock,
    file: { logsRoot },
    terminal: { stream: flags.json ? asPipe(stderr) : stderr, color: !env.NO_COLOR },
  });
  try {
    const parts = { flags, signals, logger, logsRoot };
    const [first, ...more] = paths;
    if (first !== undefined && more.length === 0) return await startOne(first, parts, surroundings);
    return await startAll(paths, parts, surroundings);
  } finally {
    await close();
  }
}

interface StartParts {
  readonly flags: StartFlags;
  readonly signals: StopSignals;
  readonly logger: Logger;
  readonly logsRoot: string;
}

async function startOne(workflowPath: string, parts: StartParts, surroundings: Surroundings): Promise<number> {
  const { flags, signals, logger, logsRoot: logs } = parts;
  const { stateDir, maxAgents } = flags;
  const shared = maxAgents === undefined ? {} : { pool: createSlotPool(() => maxAgents) };
  const options = { workflowPath, stateDir, trial: trialOf(flags), role: 'daemon', ...shared, logger } as const;
  await using daemon = await createDaemon(options, surroundings);
  const { version } = surroundings;
  logger.info('Baton starts.', { version, workflow: workflowPath, custody: daemon.custody.custody, logs });
  warnOfPort(parts);
  return tellEnd(await runDaemon(daemon, signals), logger);
}

async function startAll(workflows: readonly string[], parts: StartParts, surroundings: Surroundings): Promise<number> {
  const { flags, signals, logger, logsRoot: logs } = parts;
  const maxAgents = flags.maxAgents ?? null;
  const onFirst = (): void => {
    logger.info('Baton starts.', { version: surroundings.version, workflows, max_agents: maxAgents, logs });
    warnOfPort(parts);
  };
  const { how, hasWorked, broken } = await startSeveral(
    { workflows, maxAgents, trial: trialOf(flags), signals, logger, onFirst },
    surroundings,
  );
  if (!hasWorked && broken.length === workflows.length) {
    for (const { error } of broken) reportError(error, { json: flags.json === true, surroundings });
    return exitCodes.error;
  }
  for (const { workflow, error } of broken)
    logger.warn('A project could not start until the end.', { workflow, code: error.code });
  return tellEnd(how, logger);
}

function tellEnd(how: DaemonEnd, logger: Logger): number {
  if (how === 'at_once') logger.warn('Baton was ended by a second signal.');
  else logger.info('Baton has stopped; nothing is left running.');
  return how === 'at_once' ? exitCodes.error : exitCodes.ok;
}

function warnOfPort({ flags: { port }, logger }: StartParts): void {
  if (port === undefined) return;
  logger.warn('The HTTP API is not in this version; --port has no effect.', { code: 'unsupported_setting', port });
}

/** The commands beside a daemon find its folder by the workflow file; a folder for several would hide each from them. */
function refuseOneStateFolder({ stateDir }: StartFlags): void {
  if (stateDir === undefined) return;
  throw new BatonError('usage_error', '--state-dir names the folder of one project, and several files are named.', {
    nextStep: 'Leave it out: each project has a folder of its own. XDG_STATE_HOME moves all of them.',
  });
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
