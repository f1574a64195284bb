import type { Message } from '../../client/schema/message.ts';
import { shortWords } from '../../core/command/person-words.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { authorWords, timeWords } from './history-words.ts';

/** A message to an agent as one line: who said it, what became of it, and its words. */
export function messageWords({ at, author, kind, path, line, body, status, run_id: run }: Message): string {
  const place = path === null ? '' : ` on ${harmlessLine(path)}${line === null ? '' : `:${line}`}`;
  const name = run === null ? '' : run.slice(0, 8);
  const had = name === '' ? 'waits for the next run' : `run ${name} received it; it waits until a run ends well`;
  const fate = status === 'delivered' ? `delivered to run ${name}` : had;
  return `${timeWords(at)}  ${authorWords(author)}, ${kind.replaceAll('_', ' ')}${place} (${fate}): ${shortWords(body)}`;
}
