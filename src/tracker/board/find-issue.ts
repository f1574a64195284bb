import { BatonError } from '../../core/baton-error.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { BoardParts } from './board-parts.ts';

/** How many issues are proposed when the named one does not exist. */
const mostProposed = 3;

/** The issue that a person means by `BAT-3`, `bat-3`, `3` or an id. */
export async function findIssue(parts: BoardParts, name: string): Promise<BoardIssue> {
  const { store, project, prefix } = parts;
  const text = name.trim();
  const spellings = /^\d+$/.test(text) ? [`${prefix}-${text}`] : [text, text.toUpperCase()];
  for (const identifier of new Set(spellings)) {
    const found = await store.boardIssues.byIdentifier(project, identifier);
    if (found !== null) return found;
  }
  const [byId] = await store.boardIssues.readMany(project, [text]);
  if (byId !== undefined) return byId;

  const nearest = await nearestIdentifiers(parts, text);
  const proposal =
    nearest.length === 0 ? 'The board of this state folder is empty.' : `The nearest are: ${nearest.join(', ')}.`;
  throw new BatonError('tracker_issue_not_found', `There is no issue "${name}" on the board. ${proposal}`, {
    details: { name, nearest },
    nextStep:
      nearest.length === 0
        ? 'Run `baton status`: it names the state folder. To use another one, such as that of the demo, add --state-dir.'
        : 'Run `baton issue list` to see the issues on the board.',
  });
}

/**
 * Identifiers are a prefix and a number counted from 1, so the intended issue is guessed from the number alone: the
 * right number with a wrong prefix, one digit too many, or the newest. Nothing reads the whole board.
 */
async function nearestIdentifiers({ store, project, prefix }: BoardParts, text: string): Promise<string[]> {
  const newest = Object.values(await store.boardIssues.countByStatus(project)).reduce((sum, count) => sum + count, 0);
  const digits = /\d+/.exec(text)?.[0] ?? '';
  const oneLess = [...digits].map((_, index) => digits.slice(0, index) + digits.slice(index + 1));
  const guesses = [digits, ...oneLess].map(Number).filter((number) => number >= 1 && number <= newest);
  const numbers = [...new Set([...guesses, newest, newest - 1, newest - 2])].filter((number) => number >= 1);
  const nearest: string[] = [];
  for (const number of numbers) {
    if (nearest.length === mostProposed) break;
    const found = await store.boardIssues.byIdentifier(project, `${prefix}-${number}`);
    if (found !== null) nearest.push(found.identifier);
  }
  return nearest;
}
