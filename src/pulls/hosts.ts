import type { RepositorySettings } from '../core/settings.ts';
import type { Git } from '../workspace/git/git.ts';
import type { GitPlaces } from '../workspace/git/git-places.ts';
import { localHost } from './local/local-host.ts';
import type { PullRequests } from './pull-requests.ts';

/**
 * Everything that Baton knows about one kind of host. The folder of the host exports it, the list below names it, and no
 * other file does.
 */
export interface PullHost {
  /** As in `review.host`. */
  readonly name: string;
  /** Creates it for the repository of a project. Throws `unsupported_setting` for a repository that it cannot use. */
  create(parts: PullHostParts): PullRequests;
  /** Its page in docs/. */
  readonly docs: string;
}

export interface PullHostParts {
  readonly repo: RepositorySettings;
  readonly git: Git;
  readonly places: GitPlaces;
}

/** The hosts that a workflow file may name, one line each. A file that names none means the first. */
export const pullHosts: readonly PullHost[] = [localHost];
