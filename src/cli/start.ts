import path from 'node:path';
import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { Settings } from '../core/settings.ts';
import { workflowContext } from '../daemon/adapters.ts';
import { createDaemon } from '../daemon/daemon.ts';
import { refuseClashes } from '../daemon/projects/find-clash.ts';
import { startSeveral } from '../daemon/projects/start-several.ts';
import { type DaemonEnd, runDaemon } from '../daemon/run-daemon.ts';
import { type OpenedApi, openApi } from '../daemon/services/open-api.ts';
import { stateFolder } from '../daemon/state-folder.ts';
import { listenForStop, type StopSignals } from '../daemon/stop-on-signal.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';
import { createSlotPool } from '../orchestrator/dispatch/slot-pool.ts';
import type { Trial } from '../orchestrator/parts.ts';
import { createLogger } from '../telemetry/create-logger.ts';
import type { TerminalStream } from '../telemetry/log-terminal.ts';
import { type LoadedWorkflow, loadWorkflow } from '../workflow/load-workflow.ts';
import { exitCodes } from './exit-codes.ts';
import { reportError } from './report-error.ts';
import { LogTail } from './start/log-tail.ts';
import { openTerminalWriter } from './top/terminal-writer.ts';

export interface StartFlags {
  readonly json?: boolean;
  readonly port?: number;
  /** False with `--no-view`. */
  readonly view?: boolean;
  readonly logsRoot?: string;
  readonly stateDir?: string;
  readonly dryRun?: boolean;
  readonly only?: readonly string[];
  readonly maxRuns?: number;
  readonly maxAgents?: number;
}

/** `baton start`: takes issues and runs agents until a signal or a drain stops it. */
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
    return dryRun(workflows, flags, surroundings).catch((error) => {
      throw naming(paths, toBatonError(error));
    });
  }
  surroundings.closeInherited();
  using signals = listenForStop(surroundings);
  // Several projects share one log, in the state folder of the first, which this Baton has locked.
  const ownFolder = stateFolder(path.resolve(surroundings.cwd, workflows[0]), flags.stateDir, surroundings);
  const logsRoot = path.resolve(surroundings.cwd, flags.logsRoot ?? ownFolder);
  const { stderr, env } = surroundings;
  const views = paths.map((file) => viewSettingsOf(file, surroundings));
  const warnings = views.flatMap((each) => each.warnings);
  const { server, observability } = views[0] ?? noView;
  // A terminal that no one reads any more must not stop a daemon.
  await using writer = openTerminalWriter(stderr, surroundings.clock);
  const terminal = writer?.stream ?? stderr;
  const tail = isViewed(flags, observability, surroundings) ? new LogTail(terminal) : null;
  const { logger, close } = createLogger({
    clock: surroundings.clock,
    file: { logsRoot },
    terminal: { stream: tail?.stream ?? (flags.json ? asPipe(terminal) : terminal), color: !env.NO_COLOR },
  });
  try {
    const isStopping = (): boolean => signals.isStopping;
    const apiOptions = { server, port: flags.port, stateDir: ownFolder, isStopping };
    await using api = await openApi(apiOptions, logger, surroundings);
    const { refreshMs } = observability;
    const viewParts = { api, refreshMs, warnings, place: placeOf(workflows[0], flags) };
    await using _view =
      tail === null ? null : (await import('./start/show-view.ts')).showView({ ...viewParts, tail }, surroundings);
    const parts = { flags, signals, logger, logsRoot, api };
    const [first, ...more] = paths;
    if (first !== undefined && more.length === 0) return await startOne(first, parts, surroundings);
    return await startAll(paths, parts, surroundings);
  } catch (error) {
    throw naming(paths, toBatonError(error));
  } finally {
    await close();
  }
}

/** The error of a start, with the workflow file in its details where its message does not name the file. */
function naming(workflows: readonly string[], error: BatonError): BatonError {
  const { message, cause, details, nextStep } = error;
  if (workflows.some((file) => message.includes(file))) return error;
  const named = new BatonError(error, message, {
    cause,
    nextStep,
    details: { ...details, workflow: workflows.join(', ') },
  });
  if (error.stack !== undefined) named.stack = error.stack;
  return named;
}

type ViewSettings = Pick<Settings, 'server' | 'observability'> & Pick<LoadedWorkflow, 'warnings'>;

/** The server and view settings of the first file. If it cannot be read, its start reports the error. */
function viewSettingsOf(workflow: string, surroundings: Surroundings): ViewSettings {
  try {
    const { settings, warnings } = loadWorkflow(workflow, workflowContext(surroundings, undefined));
    return { ...settings, warnings };
  } catch {
    return noView;
  }
}

const noView: ViewSettings = {
  warnings: [],
  server: { enabled: true, port: null, host: '127.0.0.1', allowedHosts: [] },
  observability: { dashboardEnabled: false, refreshMs: 500 },
};

function isViewed(
  flags: StartFlags,
  { dashboardEnabled }: Settings['observability'],
  surroundings: Surroundings,
): boolean {
  const { stdin, stdout, stderr, env } = surroundings;
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true && stderr.isTTY === true && env.TERM !== 'dumb';
  return isTerminal && dashboardEnabled && flags.view !== false && flags.json !== true;
}

interface StartParts {
  readonly flags: StartFlags;
  readonly signals: StopSignals;
  readonly logger: Logger;
  readonly logsRoot: string;
  readonly api: OpenedApi;
}

async function startOne(workflowPath: string, parts: StartParts, surroundings: Surroundings): Promise<number> {
  const { flags, signals, logger, logsRoot: logs, api } = parts;
  const { stateDir, maxAgents } = flags;
  const shared = maxAgents === undefined ? {} : { pool: createSlotPool(() => maxAgents) };
  const options = { workflowPath, stateDir, trial: trialOf(flags), role: 'daemon', ...shared, logger, api } as const;
  await using daemon = await createDaemon(options, surroundings);
  const { version } = surroundings;
  const dashboard = api.address?.url ?? null;
  logger.info('baton_starting', {
    version,
    workflow: workflowPath,
    logs,
    dashboard,
  });
  return reportEnd(await runDaemon(daemon, signals), logger);
}

async function startAll(workflows: readonly string[], parts: StartParts, surroundings: Surroundings): Promise<number> {
  const { flags, signals, logger, logsRoot: logs, api } = parts;
  const maxAgents = flags.maxAgents ?? null;
  const onFirst = (): void => {
    const facts = { version: surroundings.version, workflows, max_agents: maxAgents, logs };
    logger.info('baton_starting', { ...facts, dashboard: api.address?.url ?? null });
  };
  const { how, hasWorked, broken } = await startSeveral(
    { workflows, maxAgents, trial: trialOf(flags), signals, logger, onFirst, api },
    surroundings,
  );
  if (!hasWorked && broken.length === workflows.length) {
    for (const { workflow, error } of broken)
      reportError(naming([workflow], error), { json: flags.json === true, surroundings });
    return exitCodes.error;
  }
  for (const { workflow, error } of broken) logger.warn('project_start_failed', { workflow, code: error.code });
  return reportEnd(how, logger);
}

function reportEnd(how: DaemonEnd, logger: Logger): number {
  if (how === 'at_once') logger.warn('baton_killed_by_signal');
  else logger.info('baton_stopped');
  return how === 'at_once' ? exitCodes.error : exitCodes.ok;
}

/** Other commands find the state folder of a daemon by its workflow file; a shared folder would break that. */
function refuseOneStateFolder({ stateDir }: StartFlags): void {
  if (stateDir === undefined) return;
  throw new BatonError(
    'usage_error',
    '--state-dir sets the state folder of one project, but you named several workflow files.',
    {
      nextStep: 'Leave out --state-dir: each project has its own state folder. XDG_STATE_HOME moves all of them.',
    },
  );
}

/** The limits of a trial; null when there are none. */
export function trialOf({ only, maxRuns }: StartFlags): Trial | null {
  if (only === undefined && maxRuns === undefined) return null;
  return { only: only ?? null, maxRuns: maxRuns ?? null };
}

/** The flags with which another command finds this daemon. */
function placeOf(workflow: string, { stateDir }: StartFlags): WorkplaceFlags {
  return { workflow, ...(stateDir === undefined ? {} : { stateDir }) };
}

/** The same stream, marked as not a terminal, so that the log writes JSON. */
function asPipe(stream: TerminalStream): TerminalStream {
  return Object.create(stream, { isTTY: { value: false } });
}
