import { governingText } from './governing-files.ts';

/** The evidence that a run left in its workspace. */
export interface RunEvidence {
  /** Whether anything changed while there was a session; null when that could not be seen. */
  readonly changed: boolean | null;
  /** Of the workspace after the session; null when it could not be seen completely. */
  readonly fingerprint: string | null;
  /** Null where the workspace is not a git repository, or could not be read. */
  readonly git: GitEvidence | null;
  /** Missing where the workspace has no branch to publish, and until Baton has tried to publish it. */
  readonly publication?: Publication;
  /** The agent's own words for its pull request; missing where it said none. */
  readonly proposal?: { readonly title: string; readonly body: string };
}

/** For a run whose workspace was not examined. */
export const noEvidence: RunEvidence = { changed: null, fingerprint: null, git: null };

export interface GitEvidence {
  /** The commit of HEAD; null before the first. */
  readonly head: string | null;
  readonly branch: string | null;
  /** Commits beyond the base; null where no base is known. */
  readonly ahead: number | null;
  /** The commit of the base that they stand on; missing where it is the one that the workspace began with. */
  readonly base?: string;
  /** Files that HEAD has and that are different now, or gone. */
  readonly changed: number;
  readonly untracked: number;
  readonly conflicts: number;
}

/** The result of publishing a workspace's branch to the local repository that it came from. */
export interface Publication {
  /** `nothing`: there were no new commits on it. */
  readonly outcome: 'published' | 'nothing' | 'refused';
  /** Null when not even that could be read. */
  readonly branch: string | null;
  /** The branch that it started from; missing in records of earlier versions. */
  readonly base?: string;
  /** The commit of the branch in the workspace; null when it could not be read. */
  readonly commit: string | null;
  /** The commit of a published branch in the repository before; null when there was none, or it was not published. */
  readonly before: string | null;
  /** For a refusal; missing in records of earlier versions. */
  readonly code?: PublicationRefusal;
  /** For a refusal; completes the sentence "The branch was not published: …". */
  readonly reason: string | null;
  /** Files of the published branch that control agents or CI; null: unreadable; missing where there are none. */
  readonly governing?: readonly string[] | null;
  /** HEAD, where it is not on the branch and has commits that the branch lacks. Baton does not publish those. */
  readonly elsewhere: WorkElsewhere | null;
}

export type PublicationRefusal =
  // of the workspace
  | 'git_directory_gone'
  | 'git_directory_unreadable'
  | 'git_directory_strange'
  | 'branch_gone'
  | 'not_a_commit'
  // of the branch in the repository
  | 'is_base'
  | 'checked_out'
  | 'branch_deleted'
  | 'moved_by_others'
  | 'drops_commits'
  | 'goes_back'
  // of the way
  | 'commits_unusable'
  | 'too_many_files'
  | 'too_many_commits'
  | 'too_many_bytes'
  | 'not_moved'
  | 'failed';

export interface WorkElsewhere {
  /** Null for a HEAD on no branch. */
  readonly branch: string | null;
  readonly commit: string;
}

/** How much of a commit's name people read. */
const shortName = 7;

/** `2 commits ahead of the base, 3 files changed, 1 new file; head abc1234 on baton/t-1`. */
export function evidenceText({ changed, fingerprint, git }: RunEvidence): string {
  if (git === null) {
    if (fingerprint === null) return 'unknown, because the workspace could not be read completely';
    if (changed === null) return 'no git repository';
    return `no git repository; the run changed ${changed ? 'something' : 'nothing'}`;
  }
  const { ahead, branch, head, conflicts, untracked } = git;
  const found = [
    ...(ahead === null || ahead === 0 ? [] : [`${counted(ahead, 'commit')} ahead of the base`]),
    ...(git.changed === 0 ? [] : [`${counted(git.changed, 'file')} changed`]),
    ...(untracked === 0 ? [] : [counted(untracked, 'new file')]),
    ...(conflicts === 0 ? [] : [`${counted(conflicts, 'file')} in conflict`]),
  ];
  const where = head === null ? 'no commit yet' : `head ${head.slice(0, shortName)}`;
  const on = branch === null ? '' : ` on ${branch}`;
  return `${found.length === 0 ? 'nothing beyond the base' : found.join(', ')}; ${where}${on}`;
}

/**
 * `baton/t-1 is at abc1234 in the repository`, or why it is not there and where the commits are. The text does not
 * describe the content of a workspace that is gone.
 */
export function publicationText(publication: Publication, isWorkspaceGone: boolean): string {
  const { outcome, commit, reason, elsewhere } = publication;
  const branch = publication.branch ?? 'the branch';
  const at = commit?.slice(0, shortName);
  const fate = {
    published: `${branch} is at ${at} in the repository`,
    nothing: `no new commits on ${branch} since ${at}`,
    refused: `${branch} was not published: ${reason}`,
  }[outcome];
  const isLeft = outcome === 'refused' && commit !== null && !isWorkspaceGone;
  const work = outcome === 'nothing' || commit === null ? "the agent's work" : "more of the agent's work";
  const marked = governingText(publication.governing);
  return [
    fate,
    ...(marked === null ? [] : [marked]),
    ...(isLeft ? ['the commits are in the workspace'] : []),
    ...(elsewhere === null ? [] : [`${work} is ${elsewhereText(elsewhere)}`]),
  ].join('; ');
}

function elsewhereText({ branch, commit }: WorkElsewhere): string {
  return branch === null ? `on no branch, at ${commit.slice(0, shortName)}` : `on ${branch}`;
}

function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}
