/** What a run left in its workspace: the evidence of what it did. */
export interface RunEvidence {
  /** Whether anything changed while there was a session; null when that could not be seen. */
  readonly changed: boolean | null;
  /** Of the workspace after the session; null when it could not be seen completely. */
  readonly fingerprint: string | null;
  /** Null where the workspace is no git repository, or could not be seen. */
  readonly git: GitEvidence | null;
}

export interface GitEvidence {
  readonly head: string | null;
  readonly branch: string | null;
  /** Commits beyond the base; null where no base is known. */
  readonly ahead: number | null;
  readonly changed: number;
  readonly untracked: number;
  readonly conflicts: number;
}

/** How much of a commit's name people read. */
const shortName = 7;

/** `2 commits ahead of the base, 3 files changed, 1 new; head abc1234 on baton/t-1`. */
export function evidenceText({ changed, fingerprint, git }: RunEvidence): string {
  if (git === null) {
    if (fingerprint === null) return 'it could not be seen completely';
    if (changed === null) return 'no git repository';
    return `no git repository; the run changed ${changed ? 'something' : 'nothing'}`;
  }
  const { ahead, branch, head, conflicts, untracked } = git;
  const found = [
    ...(ahead === null || ahead === 0 ? [] : [`${counted(ahead, 'commit')} ahead of the base`]),
    ...(git.changed === 0 ? [] : [`${counted(git.changed, 'file')} changed`]),
    ...(untracked === 0 ? [] : [`${untracked} new`]),
    ...(conflicts === 0 ? [] : [`${conflicts} in conflict`]),
  ];
  const where = head === null ? 'no commit yet' : `head ${head.slice(0, shortName)}`;
  const on = branch === null ? '' : ` on ${branch}`;
  return `${found.length === 0 ? 'nothing beyond the base' : found.join(', ')}; ${where}${on}`;
}

function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}
