import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import type { JobsFlags } from './show-jobs.ts';

/** Adds `jobs`. */
export function registerJobCommands(program: Command, { surroundings, finish, addProjectCommand }: CommandParts): void {
  addProjectCommand(
    program,
    'jobs',
    'show the recurring jobs of the daemon: interval, last run, result, next run',
  ).action(async (flags: JobsFlags) => {
    const { showJobs } = await import('./show-jobs.ts');
    finish(await showJobs(flags, surroundings));
  });
}
