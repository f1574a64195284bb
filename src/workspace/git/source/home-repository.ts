import path from 'node:path';
import type { RepositorySettings, Settings } from '../../../core/settings.ts';
import { folderName, type GitPlaces } from '../git-places.ts';

/** Whether a remote host has the changes, and the base that new work starts from. */
export function isAtRemoteHost({ agent, review }: Pick<Settings, 'agent' | 'review'>): boolean {
  return agent.afterSuccess === 'review' && review.host !== 'local';
}

/**
 * The repository that workspaces come from and that runs publish their branches to. With a remote host and an address in
 * `workspace.repo` it is a bare repository of Baton's own, which the host makes and keeps up to date.
 */
export function homeOf(
  settings: Pick<Settings, 'agent' | 'review' | 'workspace'>,
  { caches }: GitPlaces,
): RepositorySettings | null {
  const { repo } = settings.workspace;
  if (repo === null || repo.isLocal || !isAtRemoteHost(settings)) return repo;
  const location = path.join(caches, `${folderName(repo.shown, repo.shown)}.home.git`);
  return { location, shown: location, isLocal: true };
}

/** Where the repository on this machine keeps the base of a remote host, without moving a branch of a person. */
export function keptBaseOf(base: string): string {
  return `refs/baton/base/${base}`;
}
