import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { withCommandFlags } from '../control/register.ts';
import { count } from '../option-parsers.ts';
import type { AnswerFlags } from './answer-question.ts';
import type { AskFlags } from './list-questions.ts';

/** Adds `ask list|show|answer`. */
export function registerAskCommands(program: Command, { surroundings, finish, addProjectCommand }: CommandParts): void {
  const ask = program.command('ask').description('read and answer the questions of agents');

  addProjectCommand(ask, 'list', 'list the open questions, oldest first')
    .option('--all', 'also list answered and closed questions, newest first')
    .option('--limit <number>', 'with --all: list at most this many', count, 50)
    .action(async (flags: AskFlags & { readonly all?: boolean; readonly limit: number }) => {
      const { listQuestions } = await import('./list-questions.ts');
      finish(await listQuestions(flags, surroundings));
    });

  ask.addHelpText('afterAll', '\n<question> is the id of a question, the start of its id, or its issue.');
  addProjectCommand(ask, 'show <question>', 'show a question in full and how to answer it').action(
    async (id: string, flags: AskFlags) => {
      const { showQuestion } = await import('./show-question.ts');
      finish(await showQuestion(id, flags, surroundings));
    },
  );

  withCommandFlags(addProjectCommand(ask, 'answer <question>', 'answer a question'))
    .argument('[answer...]', 'yes, always, no, a text, or the number of an option; - reads stdin')
    .addOption(new Option('--yes', 'allow it this once').conflicts(['always', 'no']))
    .addOption(new Option('--always', 'allow it, and allow the same request again in this session').conflicts('no'))
    .option('--no', 'refuse the request, or decline to answer')
    .option('--field <name=value>', 'the value of one field; repeat the option for more fields', fieldValue)
    .action(async (id: string, words: string[], flags: AnswerFlags) => {
      const { answerQuestion } = await import('./answer-question.ts');
      finish(await answerQuestion(id, words, flags, surroundings));
    });
}

function fieldValue(text: string, before: AnswerFlags['field'] = []): AnswerFlags['field'] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write it as NAME=VALUE.');
  const name = text.slice(0, at);
  if (before.some(([each]) => each === name)) throw new InvalidArgumentError('This field was already given.');
  return [...before, [name, text.slice(at + 1)]];
}
