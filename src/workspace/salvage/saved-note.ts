import { harmlessLine } from '../../core/harmless-line.ts';
import { type BytePath, fromBytePath } from '../folders-of.ts';
import type { Tip } from '../git/git-directory.ts';
import type { SalvageRequest, SavedWork } from './salvage.ts';

/** What the message of a saved commit tells programs. Its words may be anybody's: they are data, never message text. */
export interface SavedNote {
  readonly issueId: string;
  readonly issueIdentifier: string;
  readonly issueTitle: string;
  readonly runId: string | null;
  readonly workspace: string;
  readonly within: BytePath;
  readonly savedAt: number;
  /** The reference that HEAD named; null when it was detached. */
  readonly headReference: string | null;
  readonly head: string | null;
  readonly files: number;
  readonly commits: number;
  /** The tree that was saved, and what was staged where that is another. */
  readonly tree: string;
  readonly staged: string | null;
  /** The newest of the commits that were nowhere else. */
  readonly heads: readonly string[];
  /** Every name that held a commit, so that it can be put back. */
  readonly tips: readonly Tip[];
  /** Names whose objects are nowhere. */
  readonly lost: readonly string[];
  /** Where the repository came from, without user and password. */
  readonly origin: string | null;
}

const mark = 'Baton-Saved: ';

const author = 'Baton <baton@localhost.invalid>';

/** A commit as git keeps it, with the note in its message. */
export function commitText(
  note: SavedNote,
  commit: { tree: string; parents: readonly string[]; subject: string },
): string {
  const stamp = `${author} ${Math.floor(note.savedAt / 1000)} +0000`;
  return [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${stamp}`,
    `committer ${stamp}`,
    '',
    commit.subject,
    '',
    `${mark}${ascii(JSON.stringify(note))}`,
    '',
  ].join('\n');
}

export function subjectOf(note: SavedNote): string {
  const what = `${count(note.files, 'file')}, ${count(note.commits, 'commit')}`;
  const title = harmlessLine(note.issueTitle).slice(0, 200);
  const where = note.within === '' ? '' : ` in ${harmlessLine(fromBytePath(note.within).toString('utf8'))}`;
  const lost =
    note.lost.length === 0 ? '' : `\n\nHeld nothing that is there: ${note.lost.map(harmlessLine).join(', ')}`;
  return `Work of ${harmlessLine(note.issueIdentifier) || 'an issue'}${where}: ${what}\n\n${title}${lost}`;
}

/** The note of a commit's message; null when it has none that can be understood. */
export function noteIn(message: string): SavedNote | null {
  const line = message.split('\n').findLast((each) => each.startsWith(mark));
  if (line === undefined) return null;
  try {
    const value: unknown = JSON.parse(line.slice(mark.length));
    return isNote(value) ? value : null;
  } catch {
    return null;
  }
}

/** A saved work as others see it. */
export function savedWork(
  note: SavedNote,
  place: { name: string; repository: string; reference: string; commit: string },
): SavedWork {
  const { issueId, issueIdentifier, issueTitle, runId, workspace, savedAt, head, files, commits } = note;
  return {
    ...place,
    kind: 'commit',
    ...{ issueId, issueIdentifier, issueTitle, runId, workspace, savedAt, head, files, commits },
    within: fromBytePath(note.within).toString('utf8'),
    branch: branchOf(note),
  };
}

export function branchOf({ headReference }: Pick<SavedNote, 'headReference'>): string | null {
  return headReference?.replace(/^refs\/heads\//, '') ?? null;
}

/** What a request tells of its issue. */
export function issueNote(
  request: SalvageRequest,
): Pick<SavedNote, 'issueId' | 'issueIdentifier' | 'issueTitle' | 'runId' | 'workspace'> {
  const { issue, runId, workspace } = request;
  return { issueId: issue.id, issueIdentifier: issue.identifier, issueTitle: issue.title, runId, workspace };
}

function isNote(value: unknown): value is SavedNote {
  if (typeof value !== 'object' || value === null) return false;
  const note = value as Record<string, unknown>;
  const isTextOrNull = (key: string): boolean => note[key] === null || typeof note[key] === 'string';
  return (
    ['issueId', 'issueIdentifier', 'issueTitle', 'workspace', 'within', 'tree'].every(
      (key) => typeof note[key] === 'string',
    ) &&
    ['runId', 'headReference', 'head', 'staged', 'origin'].every(isTextOrNull) &&
    ['savedAt', 'files', 'commits'].every((key) => Number.isFinite(note[key])) &&
    ['heads', 'tips', 'lost'].every((key) => Array.isArray(note[key]))
  );
}

/** JSON whose every character is plain: no encoding of a message can change it. */
function ascii(json: string): string {
  return json.replaceAll(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
