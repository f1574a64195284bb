import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { count, folder } from '../option-parsers.ts';

/** Adds `salvage list|show|diff|restore|prune`. */
export function registerSalvageCommands(program: Command, { run, addProjectCommand }: CommandParts): void {
  const salvage = program.command('salvage').description('work that was saved before its workspace was removed');
  const one = 'by its name, or the newest of an issue';
  const allProjects = ['--all-projects', 'also what other projects saved in the same repository'] as const;
  const show = () => import('./show-salvage.ts');
  addProjectCommand(salvage, 'list', 'the newest first')
    .option(...allProjects)
    .action(run(show, 'listSalvage'));
  addProjectCommand(salvage, 'show <work>', `everything that is known of one: ${one}`)
    .option(...allProjects)
    .action(run(show, 'showSalvage'));
  addProjectCommand(salvage, 'diff <work>', `what it changes, or what is in it where it is an archive: ${one}`)
    .option('--stat', 'only which files, and how much; an archive is always a listing')
    .option(...allProjects)
    .action(run(show, 'diffSalvage'));
  addProjectCommand(salvage, 'restore <work>', `put it into a new folder as it was: ${one}`)
    .option('--to <dir>', 'the folder (default: the name of the workspace with -salvaged, here)', folder)
    .option(...allProjects)
    .action(run(() => import('./restore.ts'), 'restoreSalvage'));
  addProjectCommand(salvage, 'prune', 'drop saved work of this project that is old')
    .option('--older-than <days>', 'how old (default: workspace.salvage_retention_days)', count)
    .option('--dry-run', 'only tell what would be dropped')
    .action(run(() => import('./prune.ts'), 'pruneSaved'));
}
