import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import type { StoreFlags } from './move-store.ts';

/** Adds `backup`, `restore` and `store copy`. */
export function registerStoreCommands(program: Command, { surroundings, finish, addBeside }: CommandParts): void {
  addBeside(program, 'backup <file>', 'write everything that Baton keeps to a new file').action(
    async (file: string, flags: StoreFlags) => {
      const { backup } = await import('./move-store.ts');
      finish(backup(file, flags, surroundings));
    },
  );

  addBeside(program, 'restore <file>', 'put a backup in the place of what Baton keeps')
    .option('--replace', 'although there is something already; that is kept beside it')
    .action(async (file: string, flags: StoreFlags & { replace?: boolean }) => {
      const { restore } = await import('./move-store.ts');
      finish(await restore(file, flags, surroundings));
    });

  const store = program.command('store').description('move what Baton keeps');
  addBeside(store, 'copy', 'copy everything into an empty store, from SQLite to PostgreSQL or back')
    .requiredOption('--to <url>', 'sqlite:/path/file.db or postgres://…')
    .action(async (flags: StoreFlags & { to: string }) => {
      const { copy } = await import('./move-store.ts');
      finish(await copy(flags.to, flags, surroundings));
    });
}
