import { questionLine } from '../../core/command/answer-text.ts';
import { withoutScript } from './script.ts';

/**
 * What a prompt says that a person answered to this question last, in the words of `core/command/answer-text.ts`; null when it says
 * nothing of it. The script, where the question stands too, is not looked at.
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
