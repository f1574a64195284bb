import { questionLine } from '../../core/command/answer-text.ts';
import { withoutScript } from './script.ts';

/**
 * The latest answer of a person to this question in a prompt, in the form of `core/command/answer-text.ts`; null when
 * the prompt has none. The script, which contains the question too, is ignored.
 */
export function answerInPrompt(prompt: string, question: string): string | null {
  const lines = withoutScript(prompt).split('\n');
  const at = lines.lastIndexOf(questionLine(question));
  if (at === -1) return null;
  const answer: string[] = [];
  for (const line of lines.slice(at + 1)) {
    if (!line.startsWith('  ')) break;
    answer.push(line.trim());
  }
  return answer.join(' ');
}
