import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import type { CommandFlags } from './submit-command.ts';

/** Adds `pause`, `resume`, `drain`, and the commands to steer an agent, take over an issue and hand it back. */
export function registerControlCommands(program: Command, parts: CommandParts): void {
  const { surroundings, finish, addBeside } = parts;
  const add = (kind: 'pause' | 'resume' | 'drain', description: string): void => {
    withCommandFlags(addBeside(program, kind, description)).action(async (flags: CommandFlags) => {
      const { submitCommand } = await import('./submit-command.ts');
      finish(await submitCommand({ kind }, flags, surroundings));
    });
  };
  add('pause', 'start nothing new; runs in progress go on');
  add('resume', 'start new work again');
  add('drain', 'start nothing new, and end the daemon when the last run has ended');
  registerHandCommands(program, parts);
}

function registerHandCommands(program: Command, { surroundings, finish, addBeside }: CommandParts): void {
  const steering = addBeside(program, 'steer <issue>', 'say something to the agent in the middle of its run');
  withCommandFlags(steering.argument('<text...>', 'what to say; - reads it from stdin')).action(
    async (issue: string, words: string[], flags: CommandFlags) => {
      const { steer } = await import('./steer.ts');
      finish(await steer(issue, words, flags, surroundings));
    },
  );

  withCommandFlags(
    addBeside(program, 'takeover <issue>', 'end the agent of an issue and go on by hand: tells where and how'),
  ).action(async (issue: string, flags: CommandFlags) => {
    const { takeOver } = await import('./takeover.ts');
    finish(await takeOver(issue, flags, surroundings));
  });

  withCommandFlags(addBeside(program, 'handback <issue>', 'let an agent go on from what is there after a takeover'))
    .option('--note <text>', 'what the agent is told of the work done by hand')
    .action(async (issue: string, { note, ...flags }: CommandFlags & { readonly note?: string }) => {
      const { submitCommand } = await import('./submit-command.ts');
      const request = { kind: 'issue_handback', issue, ...(note === undefined ? {} : { note }) } as const;
      finish(await submitCommand(request, flags, surroundings));
    });
}

/** Adds `retry`, `hold`, `release` and `stop` to the command `issue`. */
export function registerIssueControlCommands(issue: Command, { surroundings, finish, addBeside }: CommandParts): void {
  const add = (name: 'hold' | 'release' | 'stop', description: string): void => {
    withCommandFlags(addBeside(issue, `${name} <issue>`, description)).action(
      async (id: string, flags: CommandFlags) => {
        const { submitCommand } = await import('./submit-command.ts');
        finish(await submitCommand({ kind: `issue_${name}`, issue: id }, flags, surroundings));
      },
    );
  };
  withCommandFlags(addBeside(issue, 'retry <issue>', 'look at an issue now: lifts a hold, cuts a wait short'))
    .option('--note <text>', 'what its agent is told')
    .action(async (id: string, { note, ...flags }: CommandFlags & { readonly note?: string }) => {
      const { submitCommand } = await import('./submit-command.ts');
      const request = { kind: 'issue_retry', issue: id, ...(note === undefined ? {} : { note }) } as const;
      finish(await submitCommand(request, flags, surroundings));
    });
  add('hold', 'start no new run on an issue; one in progress goes on to its end');
  add('release', 'lift a hold');
  add('stop', 'end the run of an issue, and hold the issue');
}

/** The flags of every command that is written into the store. */
export function withCommandFlags(command: Command): Command {
  return command
    .option('--reason <text>', 'why; it is kept')
    .option('--key <key>', 'a key of your own: asking twice with it is asking once')
    .option('--as <name>', 'in whose name (default: your login name)');
}
