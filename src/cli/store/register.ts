import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';

/** Adds `backup`, `restore` and `store copy`. */
export function registerStoreCommands(program: Command, { run, addProjectCommand }: CommandParts): void {
  const load = () => import('./move-store.ts');
  addProjectCommand(program, 'backup <file>', 'write a copy of the store to a new file').action(run(load, 'backup'));
  addProjectCommand(program, 'restore <file>', 'replace the store with a backup')
    .option('--replace', 'also replace a store with data; it is kept next to the new one')
    .action(run(load, 'restore'));
  const store = program.command('store').description('move the store to another database');
  addProjectCommand(store, 'copy', 'copy everything into an empty store, from SQLite to PostgreSQL or back')
    .requiredOption('--to <url>', 'sqlite:/path/file.db or postgres://…')
    .action(run(load, 'copy'));
}
