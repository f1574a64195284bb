import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { count } from '../option-parsers.ts';
import type { RunsFlags } from './show-runs.ts';

/** Adds `runs list|show|log`. */
export function registerRunCommands(program: Command, { surroundings, finish, addBeside }: CommandParts): void {
  const runs = program.command('runs').description('look at what agents did');

  addBeside(runs, 'list', 'the newest runs first')
    .option('--issue <id>', 'only of this issue')
    .option('--limit <number>', 'at most this many', count, 20)
    .action(async (flags: RunsFlags) => {
      const { listRuns } = await import('./show-runs.ts');
      finish(await listRuns(flags, surroundings));
    });

  addBeside(runs, 'show <run>', 'everything about a run: by its id, the beginning of it, or its issue').action(
    async (id: string, flags: RunsFlags) => {
      const { showRun } = await import('./show-runs.ts');
      finish(await showRun(id, flags, surroundings));
    },
  );

  addBeside(runs, 'log <run>', 'the events of a run')
    .option('-f, --follow', 'go on until the run has ended')
    .action(async (id: string, flags: RunsFlags & { follow?: boolean }) => {
      const { logRun } = await import('./log-run.ts');
      finish(await logRun(id, flags, surroundings));
    });
}
