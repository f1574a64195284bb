import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandParts } from '../command-parts.ts';
import { withCommandFlags } from '../control/register.ts';
import { count } from '../option-parsers.ts';
import type { AnswerFlags } from './answer-question.ts';
import type { AskFlags } from './list-questions.ts';

/** Adds `ask list|show|answer`. */
export function registerAskCommands(program: Command, { surroundings, finish, addBeside }: CommandParts): void {
  const ask = program.command('ask').description('what agents ask people, and how they are answered');

  addBeside(ask, 'list', 'the questions that wait for an answer, the oldest first')
    .option('--all', 'also those that are answered or closed, the newest first')
    .option('--limit <number>', 'with --all at most this many', count, 50)
    .action(async (flags: AskFlags & { readonly all?: boolean; readonly limit: number }) => {
      const { listQuestions } = await import('./list-questions.ts');
      finish(await listQuestions(flags, surroundings));
    });

  const named = 'by its id, the beginning of it, or its issue';
  addBeside(ask, 'show <question>', `everything about a question, and the ways to answer it: ${named}`).action(
    async (id: string, flags: AskFlags) => {
      const { showQuestion } = await import('./show-question.ts');
      finish(await showQuestion(id, flags, surroundings));
    },
  );

  withCommandFlags(addBeside(ask, 'answer <question>', `answer a question: ${named}`))
    .argument('[answer...]', 'yes, always or no; or the value, or the number of an option; - reads it from stdin')
    .addOption(new Option('--yes', 'allow it this once').conflicts(['always', 'no']))
    .addOption(new Option('--always', 'allow it, and the same again in this session').conflicts('no'))
    .option('--no', 'refuse it, or leave it unanswered')
    .option('--field <name=value>', 'a value by the name of its field; may be given several times', fieldValue)
    .action(async (id: string, words: string[], flags: AnswerFlags) => {
      const { answerQuestion } = await import('./answer-question.ts');
      finish(await answerQuestion(id, words, flags, surroundings));
    });
}

function fieldValue(text: string, before: AnswerFlags['field'] = []): AnswerFlags['field'] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write it as NAME=VALUE.');
  const name = text.slice(0, at);
  if (before.some(([each]) => each === name)) throw new InvalidArgumentError('It was given before.');
  return [...before, [name, text.slice(at + 1)]];
}
