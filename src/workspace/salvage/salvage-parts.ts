import type { Logger } from '../../core/logger.ts';
import type { RepositorySettings } from '../../core/settings.ts';
import type { ProcessDeps } from '../../process/start-child.ts';
import type { Checkout } from '../git/checkout/checkout.ts';
import type { Git } from '../git/git.ts';
import type { GitPlaces } from '../git/git-places.ts';

export interface SalvageParts extends ProcessDeps {
  /** The `project.name` of the work: several projects may keep theirs in one repository. */
  readonly project: string;
  readonly git: Git;
  readonly places: GitPlaces;
  readonly repo: RepositorySettings | null;
  /** How much of one workspace goes into a local repository; the rest into the state folder. By default 100 MiB. */
  readonly mostLocalBytes?: number | undefined;
  /** Whether a workspace that is not a repository is saved as an archive. */
  readonly archive: boolean;
  readonly findCheckout: (workspace: string) => Promise<Checkout | null>;
  readonly logger: Logger;
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
}
