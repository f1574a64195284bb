import type { BoardDetail } from '../../client/schema/board.ts';
import type { Command } from '../../client/schema/command.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { timeToSecond } from '../../core/text/time-text.ts';

/** How much of a value a line of history shows. */
const longestValue = 60;

/** One entry of an issue's history as a sentence. */
export function historyWords({ at, author, field, from, to, reason }: BoardDetail['history'][number]): string {
  const why = reason === null ? '' : `: ${harmlessLine(reason)}`;
  return `${timeWords(at)}  ${authorWords(author)} ${changeWords(field, from, to)}${why}`;
}

export function authorWords(author: Command['author']): string {
  if (author.kind === 'orchestrator') return 'the orchestrator';
  if (author.kind === 'person') return harmlessLine(author.name);
  return `run ${harmlessLine(author.run_id)}`;
}

/** In UTC, to the second. */
export function timeWords(at: string | number): string {
  return timeToSecond(new Date(at).getTime());
}

function changeWords(field: string, from: unknown, to: unknown): string {
  if (field === 'created') return 'created it';
  if (field === 'status') return `moved it from ${value(from)} to ${value(to)}`;
  // The old description is long; the JSON has it.
  if (field === 'description') return to === null ? 'removed the description' : 'changed the description';
  const name = field.replaceAll('_', ' ');
  return isNothing(to) ? `removed ${name} ${value(from)}` : `set ${name} to ${value(to)}`;
}

function isNothing(found: unknown): boolean {
  return found === null || (Array.isArray(found) && found.length === 0);
}

function value(found: unknown): string {
  const text = harmlessLine(Array.isArray(found) ? found.join(', ') : String(found));
  return text.length <= longestValue ? text : `${text.slice(0, longestValue - 1)}…`;
}
