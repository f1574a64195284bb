import type { Settings } from '../core/settings.ts';
import { pullHosts } from '../pulls/hosts.ts';
import type { PullRequests } from '../pulls/pull-requests.ts';
import type { WorkspaceResources } from '../workspace/workspace-resources.ts';

/**
 * The host of the pull requests by the settings; null for a project without a repository. One per repository, because a
 * host keeps what it computed. Throws `unsupported_setting` for a repository that the host cannot use.
 */
export function pullsMaker({
  git,
  places,
}: Pick<WorkspaceResources, 'git' | 'places'>): (settings: Settings) => PullRequests | null {
  const made = new Map<string, PullRequests>();
  return ({ workspace: { repo } }) => {
    if (repo === null) return null;
    const known = made.get(repo.location);
    if (known !== undefined) return known;
    const [host] = pullHosts;
    if (host === undefined) return null;
    const pulls = host.create({ repo, git, places });
    made.set(repo.location, pulls);
    return pulls;
  };
}
