import type { Command } from 'commander';
import type { Surroundings } from '../daemon/surroundings.ts';

/** What the commands are registered with. */
export interface CommandParts {
  readonly surroundings: Surroundings;
  /** Takes the exit code of the command that ran. */
  readonly finish: (exitCode: number) => void;
  /** Adds a command that works beside the daemon of a workflow file. */
  readonly addBeside: (parent: Command, usage: string, description: string) => Command;
}
