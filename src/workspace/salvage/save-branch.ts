import type { Git } from '../git/git.ts';
import type { SalvageParts } from './salvage-parts.ts';
import { makeReference } from './save-repository.ts';
import { referencePart, savedCommits } from './saved-commits.ts';
import { commitText, type SavedNote, subjectOf } from './saved-note.ts';

/** A branch that is about to be deleted. */
export interface EndedBranch {
  readonly issueId: string;
  readonly identifier: string;
  readonly title: string;
  readonly runId: string;
  readonly branch: string;
  readonly base: string;
  readonly commit: string;
}

/** Saves a branch in the repository that has it, as an entry of its own. One that is saved already is not saved again. */
export async function saveBranch(
  gitDir: string,
  ended: EndedBranch,
  { git, logger, project, clock }: Pick<SalvageParts, 'clock' | 'git' | 'logger' | 'project'>,
): Promise<void> {
  const { issueId, identifier, title, runId, branch, base, commit } = ended;
  const key = referencePart(identifier);
  const reference = `refs/heads/${branch}`;
  const there = await savedCommits(git, gitDir, logger, key);
  if (there.some(({ note }) => note.head === commit && note.headReference === reference)) return;
  const note: SavedNote = {
    heads: [],
    tips: [{ name: reference, id: commit }],
    lost: [],
    held: [],
    project,
    issueId,
    issueIdentifier: identifier,
    issueTitle: title,
    runId,
    workspace: '',
    within: '',
    savedAt: clock.now(),
    headReference: reference,
    head: commit,
    files: 0,
    commits: await commitsBeyond(git, gitDir, base, commit),
    tree: (await git.run({ gitDir, args: ['rev-parse', `${commit}^{tree}`] })).trim(),
    staged: null,
    isExact: false,
    stagedFiles: 0,
    stagedOtherwise: 0,
    extras: null,
    origin: null,
  };
  const text = commitText(note, { tree: note.tree, parents: [commit], subject: subjectOf(note) });
  const args = ['hash-object', '-t', 'commit', '-w', '--stdin'];
  const saved = (await git.run({ gitDir, args, stdin: text })).trim();
  await makeReference(git, gitDir, `${key}/${referencePart(runId)}`, saved);
}

async function commitsBeyond(git: Git, gitDir: string, base: string, commit: string): Promise<number> {
  const { code, stdout } = await git.ask({
    gitDir,
    args: ['rev-list', '--count', commit, '--not', `refs/heads/${base}`],
  });
  return code === 0 ? Number(stdout) : 0;
}
