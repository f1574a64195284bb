import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import { isNamed } from '../core/run/governing-files.ts';
import type { Settings } from '../core/settings.ts';
import { ruleFor } from '../process/isolation/isolation-plan.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowFile } from '../workflow/workflow-file.ts';
import type { Isolate } from './compose-isolation.ts';

export interface OwnEditsParts {
  readonly source: Pick<WorkflowFile, 'read' | 'takeWaiting' | 'onChange'>;
  readonly runs: Pick<Store['runs'], 'governedFiles'>;
  readonly project: string;
  readonly logger: Logger;
  readonly isIsolated: (settings: Settings) => Promise<boolean>;
}

/** Whether agents, their hooks and everything that they start with this view cannot write the workflow file. */
export async function isIsolatedFromWorkflow(
  isolate: Isolate,
  { workspace }: Settings,
  workflowPath: string,
): Promise<boolean> {
  const plan = await isolate({ workspace: workspace.root, writes: [], reads: [] });
  if (plan === null) return false;
  // The file may be a link, and each end of it can be written.
  const paths = [workflowPath, realpathSync(workflowPath)];
  return paths.every((path) => ruleFor(plan.rules, path)?.access !== 'write');
}

/**
 * Lets changes of the workflow file count that no agent can have made: agents are isolated from the file, and no change
 * that they ever published touches it, so that none came by a merge or a checkout. The file itself is no link: a merge
 * may change where a link leads, or the file there, under any name. All others wait for a person. Returns the function
 * that ends this.
 */
export function takeOwnEdits({ source, runs, project, logger, isIsolated }: OwnEditsParts): () => void {
  const decide = async (): Promise<void> => {
    const { workflow, waiting } = source.read();
    if (waiting === undefined || isBehindLink(workflow.path) || !(await isIsolated(workflow.settings))) return;
    const names = [basename(workflow.path)];
    const published = await runs.governedFiles(project);
    if (!published.some((file) => file === null || isNamed(file, names))) source.takeWaiting(waiting.revision);
  };
  return source.onChange(() => {
    decide().catch((error) => logger.error('workflow_listener_failed', { reason: toBatonError(error).message }));
  });
}

/** Whether the file, or a folder above it in its repository, is a link. */
function isBehindLink(path: string): boolean {
  if (existsSync(join(path, '.git')) || dirname(path) === path) return false;
  return lstatSync(path).isSymbolicLink() || isBehindLink(dirname(path));
}
