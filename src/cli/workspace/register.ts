import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import type { WorkspaceFlags } from './list.ts';
import type { PinFlags } from './pin.ts';
import type { PruneFlags } from './prune.ts';

/** Adds `workspace list|prune|pin|unpin`. */
export function registerWorkspaceCommands(program: Command, { surroundings, finish, addBeside }: CommandParts): void {
  const workspace = program.command('workspace').description('look at the folders that agents work in, and tidy up');

  addBeside(workspace, 'list', 'what is there, how large it is, and why').action(async (flags: WorkspaceFlags) => {
    const { listAll } = await import('./list.ts');
    finish(await listAll(flags, surroundings));
  });

  addBeside(
    workspace,
    'prune [issues...]',
    'remove workspaces of finished issues whose time is over; work is saved first',
  )
    .option('--dry-run', 'only tell what would be removed, and how large it is')
    .option('--all-finished', 'also those whose time is not over')
    .option('--as <name>', 'in whose name (default: your login name)')
    .action(async (issues: string[], flags: PruneFlags) => {
      const { prune } = await import('./prune.ts');
      finish(await prune(issues, flags, surroundings));
    });

  for (const verb of ['pin', 'unpin'] as const) {
    const words = verb === 'pin' ? 'keep the workspace of an issue until it is unpinned' : 'let it go like any other';
    addBeside(workspace, `${verb} <issue>`, words)
      .option('--as <name>', 'in whose name (default: your login name)')
      .action(async (issue: string, flags: PinFlags) => {
        const commands = await import('./pin.ts');
        finish(await commands[verb](issue, flags, surroundings));
      });
  }
}
