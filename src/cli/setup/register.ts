import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { withCommandFlags } from '../control/register.ts';
import type { CommandFlags } from '../control/submit-command.ts';
import type { BeginFlags } from '../intake/begin.ts';
import type { TaskFlags } from '../intake/show.ts';
import type { AcceptFlags } from './accept.ts';

/** Adds `setup` and `setup list|show|accept|refuse|retry`. */
export function registerSetupCommands(program: Command, parts: CommandParts): void {
  const { surroundings, finish, addProjectCommand } = parts;
  const setup = withCommandFlags(
    addProjectCommand(program, 'setup', 'let an agent find out how to build and test the repository; costs one run'),
  )
    .option('--wait', 'wait for the proposal and print it')
    .action(async (flags: BeginFlags) => {
      const { beginSetup } = await import('./begin.ts');
      finish(await beginSetup(flags, surroundings));
    });

  addProjectCommand(setup, 'list', 'list the latest setups').action(async (flags: TaskFlags) => {
    const { listTasks } = await import('../intake/list.ts');
    finish(await listTasks('setup', flags, surroundings));
  });

  addProjectCommand(
    setup,
    'show <task>',
    'print the proposed change of the workflow file, and how each command ended',
  ).action(async (task: string, flags: TaskFlags) => {
    const { showSetup } = await import('./show.ts');
    finish(await showSetup(task, flags, surroundings));
  });

  withCommandFlags(addProjectCommand(setup, 'accept <task>', 'write the proposed change into the workflow file'))
    .option('--yes', 'do not ask')
    .action(async (task: string, flags: AcceptFlags) => {
      const { acceptSetup } = await import('./accept.ts');
      finish(await acceptSetup(task, flags, surroundings));
    });

  withCommandFlags(addProjectCommand(setup, 'refuse <task>', 'refuse the proposal, or stop the agent')).action(
    async (task: string, flags: CommandFlags) => {
      const { refuseTask } = await import('../intake/accept.ts');
      finish(await refuseTask(task, [], flags, surroundings));
    },
  );

  withCommandFlags(addProjectCommand(setup, 'retry <task>', 'try a setup again after it failed')).action(
    async (task: string, flags: CommandFlags) => {
      const { retryTask } = await import('../intake/accept.ts');
      finish(await retryTask(task, flags, surroundings));
    },
  );
}
