import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import type { CommandFlags } from './submit-command.ts';

/** Adds `pause`, `resume`, `drain`, `reload`, and the commands to steer an agent, take over an issue and hand it back. */
export function registerControlCommands(program: Command, parts: CommandParts): void {
  const { surroundings, finish, addProjectCommand } = parts;
  const add = (kind: 'pause' | 'resume' | 'drain', description: string): void => {
    withCommandFlags(addProjectCommand(program, kind, description)).action(async (flags: CommandFlags) => {
      const { submitCommand } = await import('./submit-command.ts');
      finish(await submitCommand({ kind }, flags, surroundings));
    });
  };
  add('pause', 'start nothing new; running agents continue');
  add('resume', 'start new runs again');
  add('drain', 'start nothing new, and stop the daemon after running agents finish');
  withCommandFlags(
    addProjectCommand(program, 'reload', 'apply edits of guarded settings, which wait for your consent'),
  ).action(async (flags: CommandFlags) => {
    const { reload } = await import('./reload.ts');
    finish(await reload(flags, surroundings));
  });
  registerTakeoverCommands(program, parts);
}

function registerTakeoverCommands(program: Command, { surroundings, finish, addProjectCommand }: CommandParts): void {
  const steering = addProjectCommand(program, 'steer <issue>', 'send a message to the agent that works on an issue');
  withCommandFlags(steering.argument('<text...>', 'the message; - reads it from stdin')).action(
    async (issue: string, words: string[], flags: CommandFlags) => {
      const { steer } = await import('./steer.ts');
      finish(await steer(issue, words, flags, surroundings));
    },
  );

  withCommandFlags(
    addProjectCommand(
      program,
      'takeover <issue>',
      'stop the agent of an issue and continue by hand; prints where and how',
    ),
  ).action(async (issue: string, flags: CommandFlags) => {
    const { takeOver } = await import('./takeover.ts');
    finish(await takeOver(issue, flags, surroundings));
  });

  withCommandFlags(
    addProjectCommand(program, 'handback <issue>', 'let an agent continue an issue after you took it over'),
  )
    .option('--note <text>', 'a note to the agent about your work')
    .action(async (issue: string, { note, ...flags }: CommandFlags & { readonly note?: string }) => {
      const { submitCommand } = await import('./submit-command.ts');
      const request = { kind: 'issue_handback', issue, ...(note === undefined ? {} : { note }) } as const;
      finish(await submitCommand(request, flags, surroundings));
    });
}

/** Adds `retry`, `hold`, `release` and `stop` to the command `issue`. */
export function registerIssueControlCommands(
  issue: Command,
  { surroundings, finish, addProjectCommand }: CommandParts,
): void {
  const add = (name: 'hold' | 'stop', description: string): void => {
    withCommandFlags(addProjectCommand(issue, `${name} <issue>`, description)).action(
      async (id: string, flags: CommandFlags) => {
        const { submitCommand } = await import('./submit-command.ts');
        finish(await submitCommand({ kind: `issue_${name}`, issue: id }, flags, surroundings));
      },
    );
  };
  withCommandFlags(addProjectCommand(issue, 'retry <issue>', 'start an issue now, also if it is held or waiting'))
    .option('--note <text>', 'a note to the agent')
    .option('--agent <name>', 'the agent of the workflow file that works on it')
    .action(async (id: string, { note, agent, ...flags }: CommandFlags & { note?: string; agent?: string }) => {
      const { submitCommand } = await import('./submit-command.ts');
      const wishes = { ...(note === undefined ? {} : { note }), ...(agent === undefined ? {} : { agent }) };
      finish(await submitCommand({ kind: 'issue_retry', issue: id, ...wishes }, flags, surroundings));
    });
  add('hold', 'start no new run of an issue; a run in progress continues to its end');
  withCommandFlags(addProjectCommand(issue, 'release <issue>', 'lift a hold; the issue starts when its turn comes'))
    .option('--note <text>', 'a note to the agent')
    .action(async (id: string, { note, ...flags }: CommandFlags & { readonly note?: string }) => {
      const { submitCommand } = await import('./submit-command.ts');
      const request = { kind: 'issue_release', issue: id, ...(note === undefined ? {} : { note }) } as const;
      finish(await submitCommand(request, flags, surroundings));
    });
  add('stop', 'stop the run of an issue, and hold the issue');
}

/** The flags of every command that is written into the store. */
export function withCommandFlags(command: Command): Command {
  return command
    .option('--reason <text>', 'why; stored with the command')
    .option('--key <key>', 'a key that you choose; commands with the same key are carried out only once')
    .option('--as <name>', 'the name of the author (default: your login name)');
}
