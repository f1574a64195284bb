import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import type { JobsFlags } from './show-jobs.ts';

/** Adds `jobs`. */
export function registerJobCommands(program: Command, { surroundings, finish, addBeside }: CommandParts): void {
  addBeside(
    program,
    'jobs',
    'what the daemon does again and again: how often, when last, how it went, when next',
  ).action(async (flags: JobsFlags) => {
    const { showJobs } = await import('./show-jobs.ts');
    finish(await showJobs(flags, surroundings));
  });
}
