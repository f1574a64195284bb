import { createHash } from 'node:crypto';
import { localAuthor } from '../../core/text/fence.ts';
import type { Store } from '../../store/store.ts';
import type { BoardHistoryEntry } from '../../store/tables/board-history.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';

/** Names of those who wrote title and description; none where not all of it is by people. */
export type ReadAuthors = (issue: BoardIssue) => Promise<readonly string[]>;

/** Far above what is ever worked on at the same time. */
const mostRemembered = 100_000;

/**
 * Who wrote the text of an issue, from its history: the people who file issues on this machine are `local`, and text
 * that a run wrote, all or a part of it, is nobody's. History is read once for a text: the same words have the same
 * author, and a poll must not read the history of everything.
 */
export function createReadAuthors({ boardHistory }: Store, project: string): ReadAuthors {
  const remembered = new Map<string, { readonly text: string; readonly names: readonly string[] }>();
  return async (issue) => {
    const text = fingerprint(issue);
    const known = remembered.get(issue.id);
    if (known?.text === text) return known.names;
    const names = authorsIn(await boardHistory.list({ project, issueId: issue.id }));
    if (remembered.size >= mostRemembered) remembered.clear();
    remembered.set(issue.id, { text, names });
    return names;
  };
}

function authorsIn(history: readonly BoardHistoryEntry[]): readonly string[] {
  const lastOf = (field: string): BoardHistoryEntry | undefined =>
    history.findLast((entry) => entry.field === field || entry.field === 'created');
  const isByPeople = ['title', 'description'].every((field) => lastOf(field)?.author.kind === 'person');
  return isByPeople ? [localAuthor] : [];
}

function fingerprint({ title, description }: BoardIssue): string {
  return createHash('sha256')
    .update(JSON.stringify([title, description]))
    .digest('base64');
}
