import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../clock/system-clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Settings } from '../core/settings.ts';
import { createLimiterRegistry } from '../http/limiter-registry.ts';
import { socketPath } from '../server/socket-path.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { describeLocation, parseStoreUrl } from '../store/store-url.ts';
import type { Project } from '../store/tables/projects.ts';
import { type LoadedWorkflow, loadWorkflow } from '../workflow/load-workflow.ts';
import { canonicalPath } from '../workspace/canonical-path.ts';
import { refuseUnsafeRoot } from '../workspace/safe-root.ts';
import { workflowContext } from './adapters.ts';
import { quietLogger } from './quiet-logger.ts';
import { Remote } from './remote.ts';
import { stateFolder } from './state-folder.ts';
import type { Surroundings } from './surroundings.ts';

/** The flags that name the workflow file and its state folder. */
export interface WorkplaceFlags {
  readonly workflow?: string;
  readonly stateDir?: string;
}

/** The workflow file and its store, for the API over the store alone. */
export interface Workplace extends AsyncDisposable {
  readonly workflow: LoadedWorkflow;
  readonly stateDir: string;
  readonly store: Store;
  readonly project: Project;
  /** The services that the tracker needs; their requests are counted in the store. */
  readonly remote: Remote;
}

/** Opens the store of the workflow file's daemon as a visitor, while the daemon may run. */
export async function openWorkplace(flags: WorkplaceFlags, surroundings: Surroundings): Promise<Workplace> {
  const workflowPath = path.resolve(surroundings.cwd, flags.workflow ?? 'WORKFLOW.md');
  const workflow = loadWorkflow(workflowPath, workflowContext(surroundings, flags.stateDir));
  const { settings } = workflow;
  const place = statePlace(workflowPath, settings, flags.stateDir, surroundings);
  const store = await openStore({ url: place.storeUrl, clock: systemClock, mode: 'visitor' });
  try {
    const project = await store.projects.ensure(settings.project.name, systemClock.now());
    const remote = new Remote({
      clock: systemClock,
      logger: quietLogger,
      store,
      surroundings,
      project: project.id,
      storeKey: describeLocation(parseStoreUrl(place.storeUrl)),
      limiters: createLimiterRegistry(systemClock),
      budget: () => settings.polling.budget,
    });
    return {
      workflow,
      stateDir: place.stateDir,
      store,
      project,
      remote,
      [Symbol.asyncDispose]: async () => {
        await remote[Symbol.asyncDispose]();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

export interface StatePlace {
  readonly stateDir: string;
  readonly storeUrl: string;
  readonly socket: string;
}

/**
 * Where the state of a workflow file is. Never inside the workspaces: agents can write there, and what they write must
 * not decide what Baton does.
 */
export function statePlace(
  workflowPath: string,
  settings: Settings,
  flag: string | undefined,
  surroundings: Surroundings,
): StatePlace {
  const stateDir = stateFolder(workflowPath, flag, surroundings);
  const storeUrl = settings.store.url?.reveal() ?? `sqlite:${path.join(stateDir, 'baton.db')}`;
  const { root, repo } = settings.workspace;
  refuseUnsafeRoot(root);
  refuseInside(stateDir, root);
  if (storeUrl.startsWith('sqlite:')) refuseInside(storeUrl.slice('sqlite:'.length), root);
  // An agent that works on Baton must not change the running Baton, nor the repository that its workspaces come from.
  const elsewhere = 'Choose another `workspace.root`, because agents can write below it.';
  for (const { agent } of [settings, ...Object.values(settings.agents).map((each) => each.settings)])
    refuseInside(fileURLToPath(surroundings.agentProgram(agent.backend)), root, elsewhere);
  if (repo?.isLocal === true) refuseInside(repo.location, root, elsewhere);
  return { stateDir, storeUrl, socket: socketPath(stateDir, surroundings.tmpDir) };
}

function refuseInside(folder: string, root: string, nextStep?: string): void {
  if (!isInside(folder, root)) return;
  const message = `${folder} is inside ${root}, where agents write.`;
  const details = { path: folder, root };
  throw new BatonError(
    'state_inside_workspaces',
    message,
    nextStep === undefined ? { details } : { details, nextStep },
  );
}

/** Compares real paths: a symbolic link must not lead the state to where agents write. */
function isInside(folder: string, root: string): boolean {
  const relative = path.relative(canonicalPath(root), canonicalPath(folder));
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
}
