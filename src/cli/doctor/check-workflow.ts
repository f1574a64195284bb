import path from 'node:path';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { errorCatalogue } from '../../core/error-catalogue.ts';
import { type Finding, failed, failedBy, passed, warned } from '../../core/finding.ts';
import type { Problem } from '../../core/problem.ts';
import type { Settings } from '../../core/settings.ts';
import { createRedactor, secretsIn } from '../../core/text/redact.ts';
import { shellArgument } from '../../core/text/shell-argument.ts';
import type { Workflow } from '../../core/workflow.ts';
import { agentVariables, findBackend, findTracker, hostOf } from '../../daemon/adapters.ts';
import { commandPaths, type Isolate, isolationOfAgent, openIsolation } from '../../daemon/compose-isolation.ts';
import { quietLogger } from '../../daemon/quiet-logger.ts';
import { Remote } from '../../daemon/remote.ts';
import { probeMachine } from '../../daemon/run-containment.ts';
import { stateFolder } from '../../daemon/state-folder.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { createLimiterRegistry } from '../../http/limiter-registry.ts';
import { freeMemoryMb } from '../../process/free-memory.ts';
import { pullHosts } from '../../pulls/hosts.ts';
import { sampleIssue } from '../../workflow/template/try-templates.ts';
import { nearestFolder } from '../../workspace/free-disk.ts';
import { gitPlaces } from '../../workspace/git/git-places.ts';
import { refuseUnsafeRoot } from '../../workspace/safe-root.ts';
import { inspectFile } from '../inspect-file.ts';
import { boundedGit } from './bounded-git.ts';
import { checkFolder, megabytes } from './check-folder.ts';
import { checkRepository } from './check-repository.ts';

/** What one workflow file needs: a usable file, its folders, its repository, its tracker, its agent. */
export async function checkWorkflow(workflow: string, surroundings: Surroundings): Promise<Finding[]> {
  const file = path.resolve(surroundings.cwd, workflow);
  const { workflow: loaded, problems } = await inspectFile(file, undefined, surroundings);
  const errors = problems.filter(({ severity }) => severity === 'error');
  const unread = errors.find(({ code }) => code === 'missing_workflow_file');
  const nextStep = unread === undefined ? `baton validate ${shellArgument(file)}` : stepFor(unread);
  if (loaded === null || errors.length > 0) {
    const message = `${file}: ${errors.map((error) => `${error.message} [${error.code}]`).join('; ')}`;
    return [failed('workflow_file', message, nextStep, { code: 'unusable', path: file, problems: errors })];
  }
  const { workspace, agent } = loaded.settings;
  const warnings = problems.filter(({ severity }) => severity === 'warning');
  return [
    passed('workflow_file', file),
    ...warnings.map(({ code, message, key }) => warned('workflow_file', message, nextStep, { code, path: file, key })),
    await checkWorkspaceRoot(workspace, surroundings),
    await checkFolder(
      'state_folder',
      stateFolder(file, undefined, surroundings),
      surroundings,
      workspace.minFreeDiskMb,
    ),
    ...(await checkRepository(loaded, surroundings)),
    ...(await checkTracker(loaded.settings, surroundings)),
    ...(await checkPullHost(file, loaded, surroundings)),
    await checkMemory(agent.minFreeMemoryMb),
    ...(await checkAgent(file, loaded.settings, surroundings)),
    ...(await checkNamedAgents(file, loaded.settings, surroundings)),
  ];
}

/** For a file that cannot be read, `validate` would say no more. */
function stepFor({ details }: Problem): string {
  return details?.problem === 'not_readable'
    ? 'ask the owner of the file for permission to read it'
    : errorCatalogue.missing_workflow_file.nextStep;
}

/** The checks of each agent of `agents`, under its name. */
async function checkNamedAgents(file: string, { agents }: Settings, surroundings: Surroundings): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [name, { settings }] of Object.entries(agents))
    for (const finding of await checkAgent(file, settings, surroundings))
      found.push({
        ...finding,
        message: `agents.${name}: ${finding.message}`,
        details: { ...finding.details, agent: name },
      });
  return found;
}

async function checkWorkspaceRoot(
  { root, minFreeDiskMb }: Settings['workspace'],
  surroundings: Surroundings,
): Promise<Finding> {
  try {
    refuseUnsafeRoot(root);
  } catch (error) {
    return failedBy('workspace_root', error);
  }
  return await checkFolder('workspace_root', root, surroundings, minFreeDiskMb);
}

async function checkTracker(settings: Settings, surroundings: Surroundings): Promise<readonly Finding[]> {
  const { doctor } = findTracker(settings.tracker.kind, surroundings);
  if (doctor === undefined) return [];
  await using remote = uncounted(settings, surroundings);
  return await doctor(settings.tracker, { remote, clock: systemClock, logger: quietLogger });
}

/** No store counts these requests, because the doctor creates no store. */
function uncounted({ polling }: Settings, surroundings: Surroundings): Remote {
  return new Remote({
    clock: systemClock,
    logger: quietLogger,
    surroundings,
    store: { requestCounts: { add: async () => {}, series: async () => [] } },
    limiters: createLimiterRegistry(systemClock),
    budget: () => polling.budget,
  });
}

/** The host of pull requests, where changes become such. */
async function checkPullHost(
  file: string,
  { settings, renderBranch }: Workflow,
  surroundings: Surroundings,
): Promise<readonly Finding[]> {
  const { agent, review, workspace } = settings;
  const host = pullHosts.find(({ name }) => name === review.host);
  if (agent.afterSuccess !== 'review' || host?.doctor === undefined || workspace.repo === null) return [];
  await using remote = uncounted(settings, surroundings);
  const process = { clock: systemClock, containment: 'group_only', daemonId: systemChance.id() } as const;
  return await host.doctor(
    {
      repo: workspace.repo,
      review,
      git: boundedGit(surroundings),
      places: gitPlaces(stateFolder(file, undefined, surroundings)),
      clock: systemClock,
      logger: quietLogger,
      redactor: createRedactor(secretsIn(settings)),
      process: { ...process, daemonEnv: surroundings.env },
      remote,
    },
    { base: workspace.base, branch: renderBranch(sampleIssue) },
  );
}

async function checkMemory(floorMb: number): Promise<Finding> {
  const free = await freeMemoryMb();
  const floor = floorMb === 0 ? '' : `; nothing starts below ${megabytes(floorMb)} (agent.min_free_memory_mb)`;
  const message = `${megabytes(free)} free${floor}`;
  const facts = { free_mb: free, least_mb: floorMb };
  if (free >= floorMb) return passed('memory', message, facts);
  const nextStep = 'close other programs, or lower agent.min_free_memory_mb';
  return failed('memory', message, nextStep, { code: 'low_memory', ...facts });
}

async function checkAgent(
  workflowPath: string,
  settings: Settings,
  surroundings: Surroundings,
): Promise<readonly Finding[]> {
  const backend = findBackend(settings.agent.backend, surroundings);
  const { env, cwd, homeDir, tmpDir } = surroundings;
  const daemonId = systemChance.id();
  const { containment } = await probeMachine(surroundings, daemonId);
  const process = { clock: systemClock, containment, daemonId };
  const stateDir = stateFolder(workflowPath, undefined, surroundings);
  const places = { process: { ...process, daemonEnv: env }, settings, workflowPath, stateDir, logger: quietLogger };
  let isolate: Isolate;
  try {
    isolate = (await openIsolation(places, surroundings)).isolationFor(settings);
    for (const account of settings.agent.accounts.filter((each) => each.backend === backend.name))
      await isolate({ workspace: cwd, reads: [], writes: [] }, commandPaths(backend, settings, account, surroundings));
  } catch (error) {
    return [failedBy('isolation', error)];
  }
  const near = await nearestFolder(settings.workspace.root).catch(() => null);
  return backend.doctor({
    settings,
    process,
    chance: systemChance,
    host: hostOf(backend, surroundings),
    env,
    cwd,
    homeDir,
    scratchFolders: near === null ? [tmpDir] : [near.folder, tmpDir],
    partsFor: (account) => ({
      ...process,
      daemonEnv: env,
      ...agentVariables(settings, account, surroundings),
      isolate: isolationOfAgent(isolate, backend, settings, account, surroundings),
    }),
  });
}
