import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import type { JobsFlags } from './show-jobs.ts';

/** Adds `jobs` and `prune`. */
export function registerJobCommands(
  program: Command,
  { surroundings, finish, run, addProjectCommand }: CommandParts,
): void {
  addProjectCommand(
    program,
    'jobs',
    'show the recurring jobs of the daemon: interval, last run, result, next run',
  ).action(async (flags: JobsFlags) => {
    const { showJobs } = await import('./show-jobs.ts');
    finish(await showJobs(flags, surroundings));
  });
  addProjectCommand(
    program,
    'prune',
    'remove what is past its retention: workspaces, branches, saved work, caches, runs, transcripts, artifacts',
  )
    .option('--dry-run', 'only show how much would be removed, and which setting limits it')
    .option('--as <name>', 'the author of the command (default: your login name)')
    .action(run(() => import('../prune.ts'), 'prune'));
}
