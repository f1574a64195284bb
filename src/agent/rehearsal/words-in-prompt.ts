import { heads } from '../../core/command/message-text.ts';
import { harmlessLines } from '../../core/text/harmless-line.ts';
import { withoutScript } from './script.ts';

const head = new RegExp(
  `^(?:${heads.note}|${heads.reason}|${heads.review_comment})(?: in (?<path>.+), line (?<line>\\d+))?.*:$`,
);

/** The first paragraph of each message of a person in a prompt, in the form of `core/command/message-text.ts`. */
export function wordsInPrompt(prompt: string): readonly string[] {
  const parts = withoutScript(prompt).split('\n\n');
  return parts.flatMap((part, index) => {
    const found = head.exec(part);
    if (found === null) return [];
    const { path, line } = found.groups ?? {};
    return [`${path === undefined ? '' : `${path}:${line}: `}${harmlessLines(parts[index + 1] ?? '').trim()}`];
  });
}
