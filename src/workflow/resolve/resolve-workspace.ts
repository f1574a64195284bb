import { dirname, isAbsolute } from 'node:path';
import type { WorkspaceSettings } from '../../core/settings.ts';
import type { PlainSettings } from '../table/setting-table.ts';
import { isBranchName } from '../template/branch-name.ts';
import type { Place, Surroundings } from '../workflow-context.ts';
import { errorAt, type Report, shown, warningAt } from '../workflow-problems.ts';
import { byState } from './by-state.ts';
import { lookUp, resemblesReference, resolvePath, takenLiterally, variableNamed } from './references.ts';
import { resolveRepository } from './resolve-repository.ts';

interface ResolvedWorkspace {
  readonly settings: WorkspaceSettings;
  readonly origins: ReadonlyMap<string, string>;
  /** Variables that hold the password of a repository. */
  readonly secretVariables: readonly string[];
}

interface WorkflowPlace extends Place {
  readonly path: string;
}

/** Resolves the `workspace` section: its paths and the repository, and checks the keys against each other. */
export function resolveWorkspace(
  plain: PlainSettings['workspace'],
  { path, workflowDir, surroundings }: WorkflowPlace,
  report: Report,
): ResolvedWorkspace {
  const { root, origin } = resolveWorkspaceRoot(plain.root, path, surroundings, report);
  const repository = resolveRepository(plain.repo, workflowDir, surroundings, report);
  const { repo } = repository;
  const strategy = plain.strategy ?? (repo === null ? 'none' : 'worktree');
  // A repository that is set and refused is already reported.
  if (strategy !== 'none' && repo === null && repository.origin === 'default') {
    const message = `workspace.strategy is ${strategy}, which needs workspace.repo`;
    report(errorAt('workspace.strategy', message, { problem: 'needs_other', other: 'workspace.repo' }));
  }
  checkCopied(plain.copy, report);
  return {
    settings: {
      ...plain,
      root,
      repo,
      strategy,
      base: readBase(plain.base, report),
      copyFrom: repo?.isLocal === true ? repo.location : workflowDir,
      retentionMsByState: byState('workspace.retention_ms_by_state', plain.retentionMsByState, report),
    },
    origins: new Map([
      ['workspace.root', origin],
      ['workspace.repo', repository.origin],
    ]),
    secretVariables: repository.secretVariables,
  };
}

function readBase(value: string | null, report: Report): string | null {
  const base = value?.trim() ?? '';
  if (base === '') return null;
  if (!isBranchName(base)) {
    const message = `workspace.base must be the name of a branch, found ${shown(base)}`;
    report(errorAt('workspace.base', message, { problem: 'wrong_value', expected: 'branch_name' }));
  }
  return base;
}

/** A pattern that leads outside the folder would give an agent files that were not meant for it. */
function checkCopied(patterns: readonly string[], report: Report): void {
  for (const [index, pattern] of patterns.entries()) {
    const name = `workspace.copy[${index}]`;
    const steps = pattern.split(/[/{},()|]/);
    const isInside = !isAbsolute(pattern) && !/^~(?:\/|$)/.test(pattern) && !steps.includes('..');
    if (isInside && pattern.trim() !== '' && !pattern.includes('\0')) continue;
    const message = `${name} must be a relative path or pattern without "..", found ${shown(pattern)}`;
    report(errorAt(name, message, { problem: 'wrong_entry', expected: 'path_inside' }));
  }
}

interface ResolvedRoot {
  readonly root: string;
  readonly origin: string;
}

const rootKey = 'workspace.root';

/** `workspace.root` as an absolute path. Blank, or a variable that is unset or blank, means the default. */
function resolveWorkspaceRoot(
  value: string | null,
  workflowPath: string,
  surroundings: Surroundings,
  report: Report,
): ResolvedRoot {
  const workflowDir = dirname(workflowPath);
  const byDefault = { root: surroundings.defaultRoot(workflowPath), origin: 'default' };
  if (value === null || value.trim() === '') return byDefault;

  const variable = variableNamed(value);
  const path = variable === null ? value : (lookUp(surroundings.env, variable)?.trim() ?? '');
  if (path === '') {
    const message = `${rootKey} names $${variable}, which is not set, so Baton uses ${byDefault.root}`;
    report(warningAt(rootKey, message, { code: 'doubtful_reference', problem: 'not_set', variable }));
    return byDefault;
  }
  if (path.includes('\0')) {
    report(errorAt(rootKey, `${rootKey} must be a path without a NUL character`, { problem: 'nul_character' }));
  }
  if (variable === null && resemblesReference(value)) report(takenLiterally(rootKey));
  const origin = variable === null ? 'file' : `file, via $${variable}`;
  return { root: resolvePath(path, workflowDir, surroundings), origin };
}
