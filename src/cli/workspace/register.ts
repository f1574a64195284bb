import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';

/** Adds `workspace list|prune|pin|unpin`. */
export function registerWorkspaceCommands(program: Command, { run, addProjectCommand }: CommandParts): void {
  const workspace = program.command('workspace').description('list and remove the folders that agents work in');
  const as = ['--as <name>', 'the author of the command (default: your login name)'] as const;
  addProjectCommand(workspace, 'list', 'list the workspaces: how large each is, and why it is still there').action(
    run(() => import('./list.ts'), 'listAll'),
  );
  addProjectCommand(
    workspace,
    'prune [issues...]',
    'remove workspaces of finished issues whose retention is over; unsaved work is saved first',
  )
    .option('--dry-run', 'only show what would be removed, and how large it is')
    .option('--all-finished', 'also remove those whose retention is not over')
    .option(...as)
    .action(run(() => import('./prune.ts'), 'prune'));
  const pin = () => import('./pin.ts');
  addProjectCommand(workspace, 'pin <issue>', 'keep the workspace of an issue until it is unpinned')
    .option(...as)
    .action(run(pin, 'pin'));
  addProjectCommand(workspace, 'unpin <issue>', 'let the workspace of an issue be removed again')
    .option(...as)
    .action(run(pin, 'unpin'));
}
