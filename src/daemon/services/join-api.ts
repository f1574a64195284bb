import type { Timer } from '../../clock/clock.ts';
import type { Logger } from '../../core/logger.ts';
import type { Settings } from '../../core/settings.ts';
import { childEnvironment, usualVariables } from '../../process/child-environment.ts';
import type { ProcessDeps } from '../../process/start-child.ts';
import { createNotifier, type Notifier } from '../../telemetry/notify/notifier.ts';
import { targetsIn } from '../../telemetry/notify/notify-target.ts';
import { notifyProvider, type RunCommand } from '../../telemetry/notify/send-message.ts';
import type { Tracker } from '../../tracker/tracker.ts';
import type { Surroundings } from '../surroundings.ts';
import { commentOnIssue } from './comment-on-issue.ts';
import { type ApiProjectParts, composeApiProject } from './compose-project.ts';
import { notifyFacts } from './notify-facts.ts';
import type { OpenedApi } from './open-api.ts';
import { runNotifyCommand } from './run-notify-command.ts';

/** Adds a daemon to the API of this Baton; returns a function that removes it. */
export function joinApi(
  api: OpenedApi,
  parts: Omit<ApiProjectParts, 'delay'>,
  { daemonId }: { readonly daemonId: string },
): () => void {
  api.knowDaemon(daemonId);
  return api.projects.add(composeApiProject({ ...parts, delay: api.delay }));
}

export interface NotifyParts extends Pick<ApiProjectParts, 'orchestrator' | 'store' | 'project' | 'remote'> {
  readonly settings: () => Settings;
  readonly trackerFor: (settings: Settings) => Tracker;
  /** The id of this daemon in the store. */
  readonly owner: string;
  readonly process: ProcessDeps;
  readonly cwd: string;
  readonly logger: Logger;
  readonly dashboardUrl: () => string | null;
}

const checkEveryMs = 1_000;

/** Sends notifications to people until it is disposed. */
export function startNotifying(parts: NotifyParts, surroundings: Surroundings): AsyncDisposable {
  const { orchestrator, store, project, remote, settings } = parts;
  const { clock, chance } = surroundings;
  const notifier: Notifier = createNotifier({
    store,
    project,
    daemon: parts.owner,
    clock,
    chance,
    settings,
    logger: parts.logger,
    dashboardUrl: parts.dashboardUrl,
    runCommand: runCommandFor(parts, surroundings),
    comment: commentOnIssue({ ...parts, clock }),
    http: (url, allowInsecure) => remote.client(notifyProvider, url, allowInsecure),
  });
  let timer: Timer | null = null;
  const check = (): void => {
    timer = null;
    if (targetsIn(settings()).length === 0) return;
    notifier.update(notifyFacts(settings().project.name, orchestrator.read()));
  };
  const unwatch = orchestrator.onChange(() => {
    // Agents cause changes hundreds of times a second, so check at intervals.
    timer ??= clock.schedule(checkEveryMs, check);
  });
  return {
    [Symbol.asyncDispose]: async () => {
      unwatch();
      timer?.cancel();
      await notifier.close();
    },
  };
}

/** The command is the text of the workflow file. Facts go into variables and the input, never into the command. */
function runCommandFor({ process, cwd, settings }: NotifyParts, { env, chance }: Surroundings): RunCommand {
  return ({ env: add, ...request }) =>
    runNotifyCommand(
      {
        ...request,
        cwd,
        runId: `notify-${chance.id()}`,
        env: childEnvironment({ from: env, allow: usualVariables, deny: settings().secretEnvironment, add }),
      },
      process,
    );
}
