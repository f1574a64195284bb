import type { Command } from 'commander';
import type { CommandParts } from '../command-line.ts';
import type { CommandFlags } from './submit-command.ts';

/** Adds `pause`, `resume` and `drain`. */
export function registerControlCommands(program: Command, { surroundings, finish, addBeside }: CommandParts): void {
  const add = (kind: 'pause' | 'resume' | 'drain', description: string): void => {
    withCommandFlags(addBeside(program, kind, description)).action(async (flags: CommandFlags) => {
      const { submitCommand } = await import('./submit-command.ts');
      finish(await submitCommand(kind, {}, flags, surroundings));
    });
  };
  add('pause', 'start nothing new; runs in progress go on');
  add('resume', 'start new work again');
  add('drain', 'start nothing new, and end the daemon when the last run has ended');
}

/** Adds `retry`, `hold`, `release` and `stop` to the command `issue`. */
export function registerIssueControlCommands(issue: Command, { surroundings, finish, addBeside }: CommandParts): void {
  const add = (name: 'retry' | 'hold' | 'release' | 'stop', description: string): void => {
    withCommandFlags(addBeside(issue, `${name} <issue>`, description)).action(
      async (id: string, flags: CommandFlags) => {
        const { submitCommand } = await import('./submit-command.ts');
        finish(await submitCommand(`issue_${name}`, { issue: id }, flags, surroundings));
      },
    );
  };
  add('retry', 'look at an issue now: lifts a hold, cuts a wait short');
  add('hold', 'start no new run on an issue; one in progress goes on to its end');
  add('release', 'lift a hold');
  add('stop', 'end the run of an issue, and hold the issue');
}

function withCommandFlags(command: Command): Command {
  return command
    .option('--reason <text>', 'why; it is kept')
    .option('--key <key>', 'a key of your own: asking twice with it is asking once')
    .option('--as <name>', 'in whose name (default: your login name)');
}
