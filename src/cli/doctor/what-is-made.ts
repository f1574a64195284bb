import type { WorkspaceSettings } from '../../core/settings.ts';

/** What a ticket gets of the repository, in words. Not a worktree: `git worktree list` there would show none. */
export function whatIsMade(strategy: WorkspaceSettings['strategy']): string {
  return strategy === 'clone' ? 'a clone of its own' : 'a checkout of its own';
}
