import { harmlessLine } from '../../core/text/harmless-line.ts';
import { answerInPrompt } from './answer-in-prompt.ts';

/** The choices of a person when there is no script, each with its script. */
const choices: Readonly<Record<string, (identifier: string) => readonly string[]>> = {
  'do something small': (identifier) => [
    `say Doing something small for ${identifier}`,
    'wait 1000',
    'append rehearsal.md',
    `| Something small for ${identifier}.`,
    'spend 1000',
    // A workspace may not be a repository, and a tracker may not have this state.
    `try commit ${identifier}: Do something small`,
    'try move review',
  ],
  'take a minute': () => ['say Taking a minute', 'listen 60000', 'say The minute is over'],
  fail: () => ['fail A person asked for this failure.'],
};

const names = Object.keys(choices).map((name) => `\`${name}\``);

/** The question of the scripted agent when it has no script, or when the script has ended. */
export const scriptQuestion = `The scripted agent has no script, or its script has ended. What should it do next? Answer with ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`;

/** The script that a person chose; null when there is no answer, or the answer is not one of the choices. */
export function chosenScript(prompt: string, identifier: string): string | null {
  const answer = answerInPrompt(prompt, scriptQuestion)?.replace(/^Answer: /, '') ?? '';
  const name = answer
    .toLowerCase()
    .replaceAll(/[`.!"']/g, '')
    .trim();
  const steps = Object.hasOwn(choices, name) ? choices[name] : undefined;
  return steps === undefined ? null : steps(harmlessLine(identifier)).join('\n');
}
