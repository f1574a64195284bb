import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';

/** Adds `workspace list|prune|pin|unpin`. */
export function registerWorkspaceCommands(program: Command, { run, addProjectCommand }: CommandParts): void {
  const workspace = program.command('workspace').description('look at the folders that agents work in, and tidy up');
  const as = ['--as <name>', 'in whose name (default: your login name)'] as const;
  addProjectCommand(workspace, 'list', 'what is there, how large it is, and why').action(
    run(() => import('./list.ts'), 'listAll'),
  );
  addProjectCommand(
    workspace,
    'prune [issues...]',
    'remove workspaces of finished issues whose time is over; work is saved first',
  )
    .option('--dry-run', 'only tell what would be removed, and how large it is')
    .option('--all-finished', 'also those whose time is not over')
    .option(...as)
    .action(run(() => import('./prune.ts'), 'prune'));
  const pin = () => import('./pin.ts');
  addProjectCommand(workspace, 'pin <issue>', 'keep the workspace of an issue until it is unpinned')
    .option(...as)
    .action(run(pin, 'pin'));
  addProjectCommand(workspace, 'unpin <issue>', 'let it go like any other')
    .option(...as)
    .action(run(pin, 'unpin'));
}
