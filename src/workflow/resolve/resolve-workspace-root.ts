import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import type { Surroundings } from '../surroundings.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';
import { lookUp, resemblesReference, variableNamed } from './environment-reference.ts';
import { resolvePath } from './resolve-path.ts';

const key = 'workspace.root';

interface ResolvedRoot {
  readonly root: string;
  readonly origin: string;
}

/** `workspace.root` as an absolute path. Blank, or a variable that is not set or blank, means the default. */
export function resolveWorkspaceRoot(
  value: string | null,
  workflowPath: string,
  surroundings: Surroundings,
  report: Report,
): ResolvedRoot {
  const workflowDir = dirname(workflowPath);
  const byDefault = { root: defaultRoot(workflowPath, surroundings), origin: 'default' };
  if (value === null || value.trim() === '') return byDefault;

  const variable = variableNamed(value);
  const path = variable === null ? value : (lookUp(surroundings.env, variable)?.trim() ?? '');
  if (path === '') {
    const message = `${key} names $${variable}, which is not set; ${byDefault.root} is used`;
    report(warningAt(key, message, { code: 'doubtful_reference', problem: 'not_set', variable }));
    return byDefault;
  }
  if (path.includes('\0')) {
    report(errorAt(key, `${key} must be a path, found a NUL character in it`, { problem: 'nul_character' }));
  }
  if (variable === null && resemblesReference(value)) {
    const message = `${key} is taken literally as ${JSON.stringify(value)}: a variable is only read when it is the whole value`;
    report(warningAt(key, message, { code: 'doubtful_reference' }));
  }
  const origin = variable === null ? 'file' : `file, via $${variable}`;
  return { root: resolvePath(path, workflowDir, surroundings), origin };
}

/** One for each workflow file: two projects may both have a BAT-1, and their agents must not meet. */
function defaultRoot(workflowPath: string, { tmpDir }: Surroundings): string {
  const name = basename(dirname(workflowPath)).replaceAll(/[^A-Za-z0-9._-]/g, '_');
  const hash = createHash('sha256').update(workflowPath).digest('hex').slice(0, 12);
  return join(tmpDir, 'baton_workspaces', `${name}-${hash}`);
}
