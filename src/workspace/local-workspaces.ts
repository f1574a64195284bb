import { lstat } from 'node:fs/promises';
import { commitRest } from './commit-rest.ts';
import { examineWorkspace } from './examine/examine-workspace.ts';
import { hasCode } from './file-system.ts';
import { createCheckouts } from './git/checkout/checkouts.ts';
import { isInBase, movedByOthers } from './git/checkout/publish-branch.ts';
import type { GitDirectory } from './git/read/git-directory.ts';
import { keptBaseOf } from './git/source/home-repository.ts';
import { runHook, runHookAnyway } from './hooks.ts';
import { keepOutOfGit } from './keep-out-of-git.ts';
import { listWorkspaces } from './list-workspaces.ts';
import { prepareWorkspace } from './prepare-workspace.ts';
import { publishAndLog } from './publish-and-log.ts';
import { readWorkspaceFile } from './read-workspace-file.ts';
import { finishRemovals } from './removal/finish-removals.ts';
import { removeWorkspace } from './removal/remove-workspace.ts';
import { createSalvage } from './salvage/create-salvage.ts';
import type { Workspaces } from './workspace.ts';
import { creationMarker } from './workspace-markers.ts';
import type { LocalWorkspaceParts, WorkspaceParts } from './workspace-parts.ts';
import { verifyWorkspace, workspacePath } from './workspace-path.ts';

/** Workspaces as directories of this machine. */
export function createLocalWorkspaces(given: LocalWorkspaceParts): Workspaces {
  const { settings, resources, clock, logger, workflowPath = '', promptFile, fetchBase } = given;
  const { git, places, oneAtATime } = resources;
  const checkouts = createCheckouts({ git, places, settings, clock, logger, workflowPath, promptFile, fetchBase });
  const findCheckout = checkouts.find;
  const parts: WorkspaceParts = {
    ...given,
    checkouts,
    salvage: createSalvage({ ...given, git, places, repo: settings.repo, archive: settings.archive, findCheckout }),
    publish: async (path, visit) => {
      await publishAndLog(path, visit, 'goes', { checkouts, logger });
    },
  };
  return {
    prepare: (visit) => prepareWorkspace(visit, parts),
    beforeRun: async (workspace, visit) => {
      if (parts.hooks.beforeRun === null) return;
      await runHook('before_run', parts.hooks.beforeRun, { path: workspace.path, visit }, parts);
    },
    keepOut: ({ path }, folder) => keepOutOfGit(path, folder),
    readFile: readWorkspaceFile,
    verify: ({ path }, { issue }) => verifyWorkspace(settings.root, path, issue.identifier),
    commitRest: ({ path }, visit) => commitRest(path, visit, { git, places, checkouts, clock, logger }),
    afterRun: async (workspace, visit) => {
      const { afterRun } = parts.hooks;
      if (afterRun !== null) await runHookAnyway('after_run', afterRun, { path: workspace.path, visit }, parts);
      return await publishAndLog(workspace.path, visit, 'stays', parts);
    },
    bringHome: (path, visit) => publishAndLog(path, visit, 'stays', parts),
    pathOf: (identifier) => workspacePath(settings.root, identifier),
    isThere: async (path) =>
      (await isSomething(path)) ||
      (await isSomething(creationMarker(path))) ||
      (await checkouts.find(path).catch(() => true)) !== null,
    remove: (place, visit) => oneAtATime(place.path, () => removeWorkspace(place, visit, parts)),
    finishRemovals: (root) => finishRemovals(root, parts),
    examine: async (path, more) => {
      const checkout = await findCheckout(path).catch(() => null);
      const onRead = (directory: GitDirectory): void => checkouts.beginToPublish(path, directory);
      const early = more?.publishes === true ? { onRead } : {};
      const parts = { git, places, checkout, isInBase: isInBase(git), ...early, ...more };
      const facts = await examineWorkspace(path, parts);
      if (facts?.git == null || checkout === null || more?.commits === undefined) return facts;
      const movedTo = await movedByOthers(git, checkout, facts.git.head);
      const base = more.into ?? checkout.base;
      const moved = base === checkout.base ? {} : { baseReference: keptBaseOf(base) };
      return { ...facts, base, ...moved, ...(movedTo === null ? {} : { movedTo }) };
    },
    list: (root, options) => listWorkspaces(root, options),
  };
}

async function isSomething(path: string): Promise<boolean> {
  return (await lstat(path).catch((error: unknown) => (hasCode(error, 'ENOENT') ? null : true))) !== null;
}
