import type { Command } from 'commander';
import type { TaskKind } from '../../core/task/task.ts';
import type { CommandParts } from '../command-parts.ts';
import { withCommandFlags } from '../control/register.ts';
import type { CommandFlags } from '../control/submit-command.ts';
import { count } from '../option-parsers.ts';
import type { AcceptFlags } from './accept.ts';
import type { BeginFlags } from './begin.ts';
import type { TaskFlags } from './show.ts';

/** Adds `intake FILE` and `intake list|show|accept|refuse|retry`. */
export function registerIntakeCommands(program: Command, parts: CommandParts): void {
  const { surroundings, finish, addProjectCommand } = parts;
  const intake = withCommandFlags(
    addProjectCommand(program, 'intake', 'turn a text into issues: an agent proposes them, and you accept'),
  )
    .argument('<file>', 'the text; - reads stdin')
    .option('--wait', 'wait for the proposals and print them')
    .action(async (file: string, flags: BeginFlags) => {
      const { beginIntake } = await import('./begin.ts');
      finish(await beginIntake(file, flags, surroundings));
    });

  addTaskCommands(intake, 'intake', parts);
}

/** Adds `scan now` and `scan list|show|accept|refuse|retry`. */
export function registerScanCommands(program: Command, parts: CommandParts): void {
  const { surroundings, finish, addProjectCommand } = parts;
  const scan = program.command('scan').description('see and decide about improvements that an agent proposed');
  withCommandFlags(
    addProjectCommand(scan, 'now', 'let an agent look for improvements, within the budget of the scanner'),
  )
    .option('--wait', 'wait for the proposals and print them')
    .action(async (flags: BeginFlags) => {
      const { beginOwn } = await import('./begin.ts');
      finish(await beginOwn('scan', flags, surroundings));
    });
  addTaskCommands(scan, 'scan', parts);
}

/** What people do with tasks of every kind. */
export function addTaskCommands(
  parent: Command,
  kind: TaskKind,
  { surroundings, finish, addProjectCommand }: CommandParts,
): void {
  addProjectCommand(parent, 'list', 'list the latest ones').action(async (flags: TaskFlags) => {
    const { listTasks } = await import('./list.ts');
    finish(await listTasks(kind, flags, surroundings));
  });

  addProjectCommand(parent, 'show <task>', 'print what the agent proposed').action(
    async (task: string, flags: TaskFlags) => {
      const { showTask } = await import('./show.ts');
      finish(await showTask(task, flags, surroundings));
    },
  );

  withCommandFlags(addProjectCommand(parent, 'accept <task>', 'file the proposed issues, all or some'))
    .argument('[numbers...]', 'only these proposals', counts)
    .option('--duplicates', 'also accept those that are like an open issue')
    .option('--edited <file>', 'accept your edited version of what `show --json` prints; - reads stdin')
    .action(async (task: string, numbers: number[] | undefined, flags: AcceptFlags) => {
      const { acceptTask } = await import('./accept.ts');
      finish(await acceptTask(task, numbers ?? [], flags, surroundings));
    });

  withCommandFlags(addProjectCommand(parent, 'refuse <task>', 'refuse the proposals, all or some, or stop the agent'))
    .argument('[numbers...]', 'only these proposals', counts)
    .action(async (task: string, numbers: number[] | undefined, flags: CommandFlags) => {
      const { refuseTask } = await import('./accept.ts');
      finish(await refuseTask(task, numbers ?? [], flags, surroundings));
    });

  withCommandFlags(addProjectCommand(parent, 'retry <task>', 'try it again after it failed')).action(
    async (task: string, flags: CommandFlags) => {
      const { retryTask } = await import('./accept.ts');
      finish(await retryTask(task, flags, surroundings));
    },
  );
}

function counts(value: string, before: number[] | undefined): number[] {
  return [...(before ?? []), count(value)];
}
