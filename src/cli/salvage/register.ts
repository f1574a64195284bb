import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { count, folder } from '../option-parsers.ts';

/** Adds `salvage list|show|diff|restore|prune`. */
export function registerSalvageCommands(program: Command, { run, addProjectCommand }: CommandParts): void {
  const salvage = program
    .command('salvage')
    .description('show and restore work that was saved before its workspace was removed');
  salvage.addHelpText(
    'afterAll',
    '\n<work> is the name of saved work, or an issue, which stands for its newest saved work.',
  );
  const allProjects = ['--all-projects', 'also the work that other projects saved in the same repository'] as const;
  const show = () => import('./show-salvage.ts');
  addProjectCommand(salvage, 'list', 'list saved work, the newest first')
    .option(...allProjects)
    .action(run(show, 'listSalvage'));
  addProjectCommand(salvage, 'show <work>', 'show where it is and what is in it')
    .option(...allProjects)
    .action(run(show, 'showSalvage'));
  addProjectCommand(salvage, 'diff <work>', 'show its changes, or the files of an archive')
    .option('--stat', 'only list the files, and how much changed in each')
    .option(...allProjects)
    .action(run(show, 'diffSalvage'));
  addProjectCommand(salvage, 'restore <work>', 'restore it into a new folder')
    .option(
      '--to <dir>',
      'the folder (default: the name of the workspace with -salvaged, in the current folder)',
      folder,
    )
    .option(...allProjects)
    .action(run(() => import('./restore.ts'), 'restoreSalvage'));
  addProjectCommand(salvage, 'prune', 'delete old saved work of this project')
    .option(
      '--older-than <days>',
      'delete only what is at least this old (default: workspace.salvage_retention_days)',
      count,
    )
    .option('--dry-run', 'only show what would be deleted')
    .action(run(() => import('./prune.ts'), 'pruneSaved'));
}
