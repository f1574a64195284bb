import type { Clock } from '../clock/clock.ts';
import type { AdapterErrors } from '../core/error-catalogue.ts';
import type { Finding } from '../core/finding.ts';
import type { Logger } from '../core/logger.ts';
import type { RepositorySettings, ReviewSettings } from '../core/settings.ts';
import type { Redactor } from '../core/text/redact.ts';
import type { Secret } from '../core/text/secret.ts';
import type { HttpClient, HttpProvider } from '../http/http.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import type { Git } from '../workspace/git/git.ts';
import type { GitPlaces } from '../workspace/git/git-places.ts';
import type { PullRequests } from './pull-requests.ts';

/**
 * Everything that Baton knows about one kind of host. The folder of the host exports it, `hosts.ts` names it, and no
 * other file does.
 */
export interface PullHost {
  /** As in `review.host`. */
  readonly name: string;
  /** Creates it for the repository of a project. Throws `unsupported_setting` for a repository that it cannot use. */
  create(parts: PullHostParts): PullRequests;
  /** The checks of `baton doctor`, which change nothing; absent where there is nothing to check. */
  readonly doctor?: (parts: PullHostParts, question: DoctorQuestion) => Promise<readonly Finding[]>;
  /** For `baton init`; absent for the host that a file need not name. */
  readonly init?: PullHostInit;
  /** The errors that it raises beyond those of the catalogue. */
  readonly errors?: AdapterErrors | undefined;
  /** Its page in docs/. */
  readonly docs: string;
}

export interface PullHostInit {
  /** The section `review` for the repository at this address; null if it is not at this host. */
  readonly settings: (address: string) => Readonly<Record<string, string>> | null;
  /** What a person does before the first start. */
  readonly note: string;
}

export interface DoctorQuestion {
  /** As in `workspace.base`. */
  readonly base: string | null;
  /** A branch as `workspace.branch` would name it. */
  readonly branch: string;
}

export interface PullHostParts {
  readonly repo: RepositorySettings;
  readonly review: ReviewSettings;
  readonly git: Git;
  readonly places: GitPlaces;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Removes the secrets of the settings from foreign text. */
  readonly redactor: Redactor;
  /** For a program that knows the login of the person. */
  readonly process: ProcessDeps & { readonly daemonEnv: Readonly<Record<string, string | undefined>> };
  /** Returns a metered client for a service; clients with the same credential share its limits. */
  readonly remote: {
    client(provider: HttpProvider, credential: Secret | null, allowInsecure: boolean): HttpClient;
  };
}
