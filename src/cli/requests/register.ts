import { type Command, InvalidArgumentError } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import type { RequestsFlags } from './show-requests.ts';

/** Counts by minute are kept for seven days. */
const mostHours = 168;

/** Adds `requests`. */
export function registerRequestCommands(
  program: Command,
  { surroundings, finish, addProjectCommand }: CommandParts,
): void {
  addProjectCommand(program, 'requests', 'count the requests to remote services, by all daemons on the store')
    .option('--hours <number>', 'count the requests of this many hours', hours, 24)
    .action(async (flags: RequestsFlags) => {
      const { showRequests } = await import('./show-requests.ts');
      finish(await showRequests(flags, surroundings));
    });
}

function hours(text: string): number {
  const value = Number(text);
  if (/^[1-9]\d{0,2}$/.test(text) && value <= mostHours) return value;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${mostHours}.`);
}
