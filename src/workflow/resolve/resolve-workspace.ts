import { isAbsolute } from 'node:path';
import type { WorkspaceSettings } from '../../core/settings.ts';
import type { Surroundings } from '../surroundings.ts';
import { readByState } from '../table/read-by-state.ts';
import type { SettingValues } from '../table/setting-table.ts';
import { isBranchName } from '../template/branch-name.ts';
import { errorAt, type Report, shown } from '../workflow-problems.ts';
import { resolveRepository } from './resolve-repository.ts';
import { resolveWorkspaceRoot } from './resolve-workspace-root.ts';

interface ResolvedWorkspace {
  readonly settings: WorkspaceSettings;
  readonly origins: ReadonlyMap<string, string>;
  /** Variables that hold the password of a repository. */
  readonly secretVariables: readonly string[];
}

interface WorkflowPlace {
  readonly path: string;
  readonly workflowDir: string;
  readonly surroundings: Surroundings;
}

/** The `workspace` section: paths and the repository resolved, the keys checked against each other. */
export function resolveWorkspace(
  values: SettingValues,
  { path, workflowDir, surroundings }: WorkflowPlace,
  report: Report,
): ResolvedWorkspace {
  const { root, origin } = resolveWorkspaceRoot(values['workspace.root'], path, surroundings, report);
  const repository = resolveRepository(values['workspace.repo'], workflowDir, surroundings, report);
  const { repo } = repository;
  const strategy = values['workspace.strategy'] ?? (repo === null ? 'none' : 'worktree');
  // A repository that was written and refused is told already.
  if (strategy !== 'none' && repo === null && repository.origin === 'default') {
    const message = `workspace.strategy is ${strategy}, which needs workspace.repo`;
    report(errorAt('workspace.strategy', message, { problem: 'needs_other', other: 'workspace.repo' }));
  }
  checkCopied(values['workspace.copy'], report);
  return {
    settings: {
      root,
      repo,
      strategy,
      base: readBase(values['workspace.base'], report),
      copy: values['workspace.copy'],
      copyFrom: repo?.isLocal === true ? repo.location : workflowDir,
      setup: script(values['workspace.setup']),
      archive: values['workspace.archive'],
      retentionMs: values['workspace.retention_ms'],
      retentionMsByState: readByState(values, 'workspace.retention_ms_by_state', report),
      salvageRetentionDays: values['workspace.salvage_retention_days'],
      minFreeDiskMb: values['workspace.min_free_disk_mb'],
    },
    origins: new Map([
      ['workspace.root', origin],
      ['workspace.repo', repository.origin],
    ]),
    secretVariables: repository.secretVariables,
  };
}

/** A blank script does nothing, so there is none to start. */
export function script(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text;
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

/** A pattern that leads out of the folder would bring along what nobody meant to give to an agent. */
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
