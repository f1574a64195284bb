import { z } from 'zod';
import { BatonError } from '../core/baton-error.ts';
import type { QuestionAnswer } from '../core/command/question.ts';
import { harmlessLine, harmlessLines } from '../core/text/harmless-line.ts';
import { defineTool } from './tool.ts';

/** The name of the person's text in an answer. */
const fieldName = 'answer';

const visible = (text: string): boolean => harmlessLine(text) !== '';

/** Asks a person, and waits for the answer as long as one may come. */
export const askPerson = defineTool({
  name: 'ask_person',
  description:
    'Ask the person who is responsible for the ticket, when you cannot go on without knowing something. ' +
    'You get the answer in words. It may take long; if nobody answers, your run ends and goes on with the answer later.',
  changesTracker: false,
  waitsForPerson: true,
  input: z.strictObject({
    question: z
      .string()
      .max(2_000)
      .refine(visible, 'must not be empty')
      .describe('What you want to know, in one line.'),
    options: z
      .array(z.string().max(200).refine(visible, 'must not be empty'))
      .max(20)
      .optional()
      .describe('What may be chosen; the person may answer something else.'),
    detail: z.string().max(20_000).optional().describe('What the person has to know to answer it.'),
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
    if (answer === null) throw nobodyAnswered();
    return wordsOf(answer);
  },
});

function wordsOf({ decision, values }: QuestionAnswer): string {
  const words = values[fieldName]?.trim() ?? '';
  if (decision !== 'decline') return words === '' ? 'The person agrees, and says nothing more.' : words;
  return words === '' ? 'The person does not want to answer this.' : `The person says no: ${words}`;
}

function nobodyAnswered(): BatonError {
  return new BatonError('agent_input_required', 'Nobody has answered. This run ends now; the question is kept.', {
    nextStep: 'Stop working now. When the question is answered, the work goes on and you are told the answer.',
  });
}
