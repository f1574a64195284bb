import * as z from 'zod';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { fromBytePath } from '../walk-folders.ts';
import { counted } from './plural.ts';
import type { SalvageRequest, SavedWork } from './salvage.ts';

const ids = z.array(z.string()).readonly();

/**
 * The fields that grow with the number of names. If they are too long for a note, they are in the extras, and empty
 * here.
 */
const namesSchema = z.object({
  /** The newest of the commits that were nowhere else. */
  heads: ids,
  /** Every reference with its object, so that it can be restored. */
  tips: z.array(z.object({ name: z.string(), id: z.string() })).readonly(),
  /** References to missing objects. */
  lost: ids,
  /** Objects of references that are not commits and that the entry keeps itself: mostly tags. */
  held: ids.default([]),
});

/**
 * The machine-readable part of a saved commit's message. Its texts may come from anyone: they are data, never message
 * text. A field with a default is missing in older notes.
 */
const noteSchema = namesSchema.extend({
  project: z.string().nullable().default(null),
  issueId: z.string(),
  issueIdentifier: z.string(),
  issueTitle: z.string(),
  runId: z.string().nullable(),
  workspace: z.string(),
  /** A `BytePath`. */
  within: z.string(),
  savedAt: z.number(),
  /** The reference that HEAD named; null when it was detached. */
  headReference: z.string().nullable(),
  head: z.string().nullable(),
  files: z.number(),
  commits: z.number(),
  /** The saved tree, and the staged tree; null when nothing was staged. */
  tree: z.string(),
  staged: z.string().nullable(),
  /** Whether files equal to HEAD were so byte by byte; in a checkout of Baton's, git may have converted them. */
  isExact: z.boolean().default(false),
  /** How many files were staged, and how many of them differ from the saved ones; null when they were not counted. */
  stagedFiles: z.number().nullable().default(null),
  stagedOtherwise: z.number().nullable().default(null),
  /** The tree of the parts that are neither files nor commits (`saved-extras.ts`); null when there is none. */
  extras: z.string().nullable().default(null),
  /** Changed files that control agents or CI; null: unreadable; missing where there are none, and in older notes. */
  governing: ids.nullable().optional(),
  /** Where the repository came from, without user and password. */
  origin: z.string().nullable(),
});

export type NoteNames = Readonly<z.infer<typeof namesSchema>>;
export type SavedNote = Readonly<z.infer<typeof noteSchema>>;

const mark = 'Baton-Saved: ';

const author = 'Baton <baton@localhost.invalid>';

/** The bytes of a commit, with the note in its message. */
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
  const what = `${counted(note.files, 'file')}, ${counted(note.commits, 'commit')}`;
  const title = harmlessLine(note.issueTitle).slice(0, 200);
  const where = note.within === '' ? '' : ` in ${harmlessLine(fromBytePath(note.within).toString('utf8'))}`;
  const lost =
    note.lost.length === 0
      ? ''
      : `\n\nThese names pointed to missing objects: ${note.lost.map(harmlessLine).join(', ')}`;
  return `Work of ${harmlessLine(note.issueIdentifier) || 'an issue'}${where}: ${what}\n\n${title}${lost}`;
}

/** The note in a commit's message; null when there is none, or it is not understood. */
export function noteIn(message: string): SavedNote | null {
  const line = message.split('\n').findLast((each) => each.startsWith(mark));
  if (line === undefined) return null;
  try {
    return noteSchema.parse(JSON.parse(line.slice(mark.length)));
  } catch {
    return null;
  }
}

export function savedWork(
  note: SavedNote,
  place: { name: string; repository: string; reference: string; commit: string },
): SavedWork {
  const { project, issueId, issueIdentifier, issueTitle, runId, workspace, savedAt, head, files, commits } = note;
  const { stagedFiles, stagedOtherwise, governing } = note;
  return {
    ...place,
    kind: 'commit',
    project,
    issueId,
    issueIdentifier,
    issueTitle,
    runId,
    workspace,
    savedAt,
    head,
    files,
    commits,
    stagedFiles,
    stagedOtherwise,
    ...(governing === undefined ? {} : { governing }),
    within: fromBytePath(note.within).toString('utf8'),
    branch: branchOf(note),
  };
}

export function branchOf({ headReference }: Pick<SavedNote, 'headReference'>): string | null {
  return headReference?.replace(/^refs\/heads\//, '') ?? null;
}

export function issueNote(
  request: SalvageRequest,
): Pick<SavedNote, 'issueId' | 'issueIdentifier' | 'issueTitle' | 'runId' | 'workspace'> {
  const { issue, runId, workspace } = request;
  return { issueId: issue.id, issueIdentifier: issue.identifier, issueTitle: issue.title, runId, workspace };
}

const mostNameCharacters = 64 * 1024;

/** The names for the note, and as text if they are too long for it: every list of saved work reads all notes. */
export function shortNames(names: NoteNames): { readonly inNote: NoteNames; readonly text: string | null } {
  const text = ascii(JSON.stringify(names));
  if (text.length <= mostNameCharacters) return { inNote: names, text: null };
  return { inNote: { heads: [], tips: [], lost: [], held: [] }, text };
}

/** JSON with only ASCII characters, which no encoding of a message can change. */
function ascii(json: string): string {
  return json.replaceAll(/[^ -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
