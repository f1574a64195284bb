import type { Logger } from '../../core/logger.ts';
import type { Git } from '../git/git.ts';
import { salvageReferences } from './history.ts';
import type { SavedWork } from './salvage.ts';
import { noteIn, type SavedNote, savedWork } from './saved-note.ts';

export interface SavedCommit {
  readonly work: SavedWork;
  readonly note: SavedNote;
}

/** The saved work in a repository, of one workspace key or of all. What is there under our name and not ours is told. */
export async function savedCommits(git: Git, gitDir: string, logger: Logger, key = ''): Promise<SavedCommit[]> {
  const text = await git.run({
    gitDir,
    args: [
      'for-each-ref',
      '--format=%(refname)%00%(objectname)%00%(contents)%00',
      `${salvageReferences}${key === '' ? '' : `${key}/`}`,
    ],
  });
  const fields = text.split('\0');
  const found: SavedCommit[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [reference, commit, message] = [(fields[at] ?? '').trimStart(), fields[at + 1] ?? '', fields[at + 2] ?? ''];
    const note = noteIn(message);
    const name = reference.slice(salvageReferences.length);
    if (note === null)
      logger.warn('A reference that looks like saved work is none.', { repository: gitDir, reference });
    else found.push({ note, work: savedWork(note, { name, repository: gitDir, reference, commit }) });
  }
  return found;
}
