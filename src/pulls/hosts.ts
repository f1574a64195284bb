import { githubHost } from './github/github-host.ts';
import { localHost } from './local/local-host.ts';
import type { PullHost } from './pull-host.ts';

/** The hosts that a workflow file may name, one line each. A file that names none means the first. */
export const pullHosts: readonly PullHost[] = [localHost, githubHost];
