import { createHash } from 'node:crypto';
import { localAuthor } from '../../core/text/fence.ts';
import type { Store } from '../../store/store.ts';
import type { BoardHistoryEntry } from '../../store/tables/board-history.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';

/** Names of the authors of title and description; empty when a part was not written by people. */
export type ReadAuthors = (issue: BoardIssue) => Promise<readonly string[]>;

/** Far more than the issues that agents work on at the same time. */
const mostRemembered = 100_000;

/**
 * Finds out who wrote the text of an issue, from its history: people who file issues on this machine are `local`, and
 * text that a run wrote, in whole or in part, has no author. History is read once for each text: the same text has the
 * same author, and a poll must not read the history of every issue.
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
