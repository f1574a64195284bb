import type { Command } from 'commander';
import type { Surroundings } from '../daemon/surroundings.ts';

/** A command. Its own types declare its arguments and flags; it returns the exit code. */
export type CommandFunction = (...given: never[]) => number | Promise<number>;

/** What registering a command needs. */
export interface CommandParts {
  readonly surroundings: Surroundings;
  /** Takes the exit code of the command that ran. */
  readonly finish: (exitCode: number) => void;
  /**
   * The action of a command: loads its file when it is called, and calls it with its arguments, its flags and the
   * surroundings.
   */
  readonly run: <Name extends string>(
    load: () => Promise<Readonly<Record<Name, CommandFunction>>>,
    name: Name,
  ) => (...given: unknown[]) => Promise<void>;
  /** Adds a command about one project, with the options `--workflow`, `--state-dir` and `--json`. */
  readonly addProjectCommand: (parent: Command, usage: string, description: string) => Command;
}
