import * as z from 'zod';
import { BatonError } from '../core/baton-error.ts';
import type { QuestionAnswer } from '../core/command/question.ts';
import { harmlessLine, harmlessLines } from '../core/text/harmless-line.ts';
import { defineTool } from './tool.ts';

/** The name of the person's text in an answer. */
const fieldName = 'answer';

const visible = (text: string): boolean => /[^\s\p{C}\p{DI}]/u.test(text);

/** Asks a person, and waits for the answer as long as one may come. */
export const askPerson = defineTool({
  name: 'ask_person',
  description:
    'Ask the person who is responsible for the issue when you cannot continue without an answer. ' +
    'You get the answer as text. This may take a long time. If no one answers, your run ends, and a later run continues with the answer.',
  changesTracker: false,
  waitsForPerson: true,
  input: z.strictObject({
    question: z.string().max(2_000).refine(visible, 'must not be empty').describe('The question, in one line.'),
    options: z
      .array(z.string().max(200).refine(visible, 'must not be empty'))
      .max(20)
      .optional()
      .describe('Possible answers. The person may also give another one.'),
    detail: z.string().max(20_000).optional().describe('The facts that the person needs to answer.'),
  }),
  run: async ({ question, options, detail }, { ask }, { signal }) => {
    const answer = await ask(
      {
        kind: 'input',
        text: harmlessLine(question),
        detail: harmlessLines(detail ?? '').trim(),
        fields: [
          {
            name: fieldName,
            label: 'Answer',
            options: [...new Set((options ?? []).map(harmlessLine))],
            allowsOther: true,
            isSecret: false,
          },
        ],
      },
      signal,
    );
    if (answer === null) throw noAnswer();
    return wordsOf(answer);
  },
});

function wordsOf({ decision, values }: QuestionAnswer): string {
  const words = values[fieldName]?.trim() ?? '';
  if (decision !== 'decline') return words === '' ? 'The person agrees and adds nothing.' : words;
  return words === '' ? 'The person does not want to answer this.' : `The person says no: ${words}`;
}

function noAnswer(): BatonError {
  return new BatonError('agent_input_required', 'No one has answered. This run ends now; Baton keeps the question.', {
    nextStep: 'Stop working now. When a person answers, a later run continues and gets the answer.',
  });
}
