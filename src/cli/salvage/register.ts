import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { count, folder } from '../option-parsers.ts';
import type { ReachFlags, SalvageFlags } from './open-salvage.ts';

/** Adds `salvage list|show|diff|restore|prune`. */
export function registerSalvageCommands(program: Command, { surroundings, finish, addBeside }: CommandParts): void {
  const salvage = program.command('salvage').description('work that was saved before its workspace was removed');
  const one = 'by its name, or the newest of an issue';

  const everybody = ['--all-projects', 'also what other projects saved in the same repository'] as const;

  addBeside(salvage, 'list', 'the newest first')
    .option(...everybody)
    .action(async (flags: ReachFlags) => {
      const { listSalvage } = await import('./show-salvage.ts');
      finish(await listSalvage(flags, surroundings));
    });

  addBeside(salvage, 'show <work>', `everything that is known of one: ${one}`)
    .option(...everybody)
    .action(async (work: string, flags: ReachFlags) => {
      const { showSalvage } = await import('./show-salvage.ts');
      finish(await showSalvage(work, flags, surroundings));
    });

  addBeside(salvage, 'diff <work>', `what it changes, or what is in it where it is an archive: ${one}`)
    .option('--stat', 'only which files, and how much; an archive is always a listing')
    .option(...everybody)
    .action(async (work: string, flags: ReachFlags & { stat?: boolean }) => {
      const { diffSalvage } = await import('./show-salvage.ts');
      finish(await diffSalvage(work, flags, surroundings));
    });

  addBeside(salvage, 'restore <work>', `put it into a new folder as it was: ${one}`)
    .option('--to <dir>', 'the folder (default: the name of the workspace with -salvaged, here)', folder)
    .option(...everybody)
    .action(async (work: string, flags: ReachFlags & { to?: string }) => {
      const { restoreSalvage } = await import('./restore.ts');
      finish(await restoreSalvage(work, flags, surroundings));
    });

  addBeside(salvage, 'prune', 'drop saved work of this project that is old')
    .option('--older-than <days>', 'how old (default: workspace.salvage_retention_days)', count)
    .option('--dry-run', 'only tell what would be dropped')
    .action(async (flags: SalvageFlags & { olderThan?: number; dryRun?: boolean }) => {
      const { pruneSaved } = await import('./prune.ts');
      finish(await pruneSaved(flags, surroundings));
    });
}
