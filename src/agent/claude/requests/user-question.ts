import type { AgentQuestion, QuestionAnswer, QuestionField } from '../../../core/command/question.ts';
import { oneLine, question } from '../../questions/approval.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../wire/fields.ts';
import type { ControlAnswer } from '../wire/connection.ts';

/** The tool with which Claude asks a person. */
export const questionTool = 'AskUserQuestion';

/** The answer for the agent when no person answers its question. */
const noAnswer =
  'No one is available to answer. Decide yourself as well as you can, or end your turn and say what you need to know.';

/** The question for a person. Claude names the answers by the texts of its questions. */
export function userQuestionOf(input: Fields): AgentQuestion {
  const asked = questionsIn(input);
  const fields = asked.map(
    ({ text, labels }): QuestionField => ({
      name: text,
      label: oneLine(text),
      options: labels,
      allowsOther: true,
      isSecret: false,
    }),
  );
  const about = asked.flatMap(({ options }) => options);
  return {
    ...question(asked.map(({ text }) => text).join(' ') || 'Claude needs information from you.', about),
    fields,
  };
}

export function userAnswerOf(input: Fields, answer: QuestionAnswer | null): ControlAnswer {
  if (answer === null || answer.decision === 'decline') return { response: { behavior: 'deny', message: noAnswer } };
  // Claude chooses the texts: one may be the name of a property that every object has.
  const answers = Object.fromEntries(
    questionsIn(input).flatMap(({ text }) => (Object.hasOwn(answer.values, text) ? [[text, answer.values[text]]] : [])),
  );
  return { response: { behavior: 'allow', updatedInput: { ...input, answers } } };
}

interface Asked {
  readonly text: string;
  readonly labels: readonly string[];
  /** The options with their descriptions. */
  readonly options: readonly string[];
}

function questionsIn({ questions }: Fields): readonly Asked[] {
  return listOf(questions)
    .map(fieldsOf)
    .flatMap((each) => {
      const text = textOf(each.question);
      if (text === null) return [];
      const options = listOf(each.options).map(fieldsOf);
      return [
        {
          text,
          labels: options.flatMap(({ label }) => textOf(label) ?? []),
          options: options.flatMap(({ label, description }) =>
            textOf(description) ? [`${textOf(label) ?? ''}: ${textOf(description)}`] : [],
          ),
        },
      ];
    });
}
