import type { Command } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { withCommandFlags } from '../control/register.ts';
import type { CommandFlags } from '../control/submit-command.ts';
import type { BeginFlags } from '../intake/begin.ts';
import { addTaskCommands } from '../intake/register.ts';

/** Adds `learnings list|add|edit|veto|restore|export`, and `learn now|list|show|accept|refuse|retry`. */
export function registerLearningCommands(program: Command, parts: CommandParts): void {
  const { surroundings, finish, run, addProjectCommand } = parts;
  const learnings = program.command('learnings').description('see and decide what earlier work teaches later agents');
  const show = () => import('./show-learnings.ts');
  addProjectCommand(learnings, 'list', 'list the learnings, with the state of their trials')
    .option('--all', 'also list those that no agent gets any more')
    .action(run(show, 'listLearnings'));
  addProjectCommand(
    learnings,
    'export [file]',
    'write the learnings that agents get as Markdown, to a file or stdout',
  ).action(async (file: string | undefined, flags: CommandFlags) =>
    finish(await (await show()).exportLearnings(file ?? null, flags, surroundings)),
  );

  const change = () => import('./change-learning.ts');
  withCommandFlags(addProjectCommand(learnings, 'add <text...>', 'write a learning yourself')).action(
    async (words: string[], flags: CommandFlags) =>
      finish(await (await change()).addLearning(words, flags, surroundings)),
  );
  withCommandFlags(addProjectCommand(learnings, 'edit <learning> <text...>', 'give a learning another text')).action(
    async (learning: string, words: string[], flags: CommandFlags) =>
      finish(await (await change()).editLearning(learning, words, flags, surroundings)),
  );
  withCommandFlags(addProjectCommand(learnings, 'veto <learning>', 'let no agent get it any more')).action(
    async (learning: string, flags: CommandFlags) =>
      finish(await (await change()).decideLearning('learning_veto', learning, flags, surroundings)),
  );
  withCommandFlags(
    addProjectCommand(learnings, 'restore <learning>', 'let agents get it again, with a new trial'),
  ).action(async (learning: string, flags: CommandFlags) =>
    finish(await (await change()).decideLearning('learning_restore', learning, flags, surroundings)),
  );
  registerLearnCommands(program, parts);
}

function registerLearnCommands(program: Command, parts: CommandParts): void {
  const { surroundings, finish, addProjectCommand } = parts;
  const learn = program.command('learn').description('see and decide about learnings that an agent proposed');
  withCommandFlags(
    addProjectCommand(learn, 'now', 'let an agent read what happened lately, within the budget of the learner'),
  )
    .option('--wait', 'wait for the proposals and print them')
    .action(async (flags: BeginFlags) => {
      const { beginOwn } = await import('../intake/begin.ts');
      finish(await beginOwn('learn', flags, surroundings));
    });
  addTaskCommands(learn, 'learn', parts);
}
