import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { count } from '../option-parsers.ts';
import type { RunsFlags } from './show-runs.ts';

/** Adds `runs list|show|log`. */
export function registerRunCommands(program: Command, { surroundings, finish, addProjectCommand }: CommandParts): void {
  const runs = program.command('runs').description('list and read the runs of agents');
  runs.addHelpText(
    'afterAll',
    '\n<run> is the id of a run, the start of its id, or an issue, which stands for its newest run.',
  );

  addProjectCommand(runs, 'list', 'list runs, newest first')
    .option('--issue <id>', 'only runs of this issue')
    .option('--limit <number>', 'at most this many', count, 20)
    .action(async (flags: RunsFlags) => {
      const { listRuns } = await import('./show-runs.ts');
      finish(await listRuns(flags, surroundings));
    });

  addProjectCommand(runs, 'show <run>', 'show how a run ended, its cost and its work').action(
    async (id: string, flags: RunsFlags) => {
      const { showRun } = await import('./show-runs.ts');
      finish(await showRun(id, flags, surroundings));
    },
  );

  addProjectCommand(runs, 'log <run>', 'print the events of a run')
    .option('-f, --follow', 'also print new events until the run has ended')
    .action(async (id: string, flags: RunsFlags & { follow?: boolean }) => {
      const { logRun } = await import('./log-run.ts');
      finish(await logRun(id, flags, surroundings));
    });
}
