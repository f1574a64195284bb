import type { LogEvent } from '../../core/log-events.ts';
import type { LogFields, Logger } from '../../core/logger.ts';
import { createLimiterRegistry } from '../../http/limiter-registry.ts';
import { createSlotPool } from '../../orchestrator/dispatch/slot-pool.ts';
import type { Trial } from '../../orchestrator/parts.ts';
import { loadWorkflow } from '../../workflow/load-workflow.ts';
import { workflowContext } from '../adapters.ts';
import { createDaemon } from '../daemon.ts';
import { runDaemon } from '../run-daemon.ts';
import type { OpenedApi } from '../services/open-api.ts';
import type { StopSignals } from '../stop-on-signal.ts';
import type { Surroundings } from '../surroundings.ts';
import { keepProjects, type ProjectsEnd, type ProjectToRun } from './keep-projects.ts';
import { logOnce } from './log-once.ts';
import { createRunningProjects } from './running-projects.ts';
import { shareSignals } from './shared-signals.ts';

export interface SeveralParts {
  /** Absolute paths, none of which clashes with another. */
  readonly workflows: readonly string[];
  /** Null: the largest limit of the running workflow files. */
  readonly maxAgents: number | null;
  readonly trial: Trial | null;
  readonly signals: StopSignals;
  readonly logger: Logger;
  /** Called once, before the first project runs. */
  readonly onFirst: () => void;
  readonly api: OpenedApi;
}

const failureEvents = { start: 'project_waiting', end: 'project_close_failed' } as const satisfies Record<
  string,
  LogEvent
>;

/** Runs several projects in one process, each with its own daemon, under one shared limit, until none is left. */
export function startSeveral(parts: SeveralParts, surroundings: Surroundings): Promise<ProjectsEnd> {
  const { logger, trial } = parts;
  const signals = shareSignals(parts.signals);
  const running = createRunningProjects(surroundings);
  const pool = createSlotPool(() => parts.maxAgents ?? running.largestLimit());
  const limiters = createLimiterRegistry(surroundings.clock);
  const failures = afterFirst(parts);
  const names = new Map<string, string>();
  parts.api.projects.expect(parts.workflows.length);

  const projectOf = (workflow: string): ProjectToRun => {
    const once = logOnce(logger);
    return {
      workflow,
      reportFailure: (error, when) => {
        if (when === 'start') parts.api.projects.startFailed();
        failures.log(failureEvents[when], { workflow, error });
      },
      run: async (onStarted) => {
        using own = signals.share();
        using joined = running.join(workflow);
        const { settings } = loadWorkflow(workflow, workflowContext(surroundings, undefined));
        const { name } = settings.project;
        names.set(workflow, name);
        // Two stores may each have a project of the same name.
        const isNameTaken = [...names].some(([other, taken]) => other !== workflow && taken === name);
        const named = once.logger.child({ project: name, ...(isNameTaken ? { workflow } : {}) });
        await using daemon = await createDaemon(
          {
            workflowPath: workflow,
            stateDir: undefined,
            trial,
            role: 'daemon',
            pool,
            limiters,
            api: parts.api,
            guard: (source) => joined.guard(source, named),
            logger: named,
          },
          surroundings,
        );
        failures.first();
        named.info('project_starting', { workflow });
        const how = await runDaemon(daemon, own, () => {
          once.logAll();
          onStarted();
        });
        named.info('project_stopped', { workflow });
        return how;
      },
    };
  };

  return keepProjects(parts.workflows.map(projectOf), { clock: surroundings.clock, signals });
}

/**
 * When no project can start, the command reports each error at its end and logs nothing. So failures are held back
 * until the first project has started.
 */
function afterFirst({ logger, onFirst }: SeveralParts): {
  first(): void;
  log(event: LogEvent, fields: LogFields): void;
} {
  let waiting: (() => void)[] | null = [];
  return {
    first: () => {
      if (waiting === null) return;
      const before = waiting;
      waiting = null;
      onFirst();
      for (const write of before) write();
    },
    log: (event, fields) => {
      const write = (): void => logger.error(event, fields);
      if (waiting === null) write();
      else waiting.push(write);
    },
  };
}
