import { spawnSync } from 'node:child_process';
import { describe } from 'vitest';

const tried = spawnSync('unshare', ['--user', '--map-root-user', '--mount', '--pid', '--fork', 'true']);

/** Whether Baton can make namespaces here, and so isolate agents. */
export const hasNamespaces: boolean = tried.status === 0;

const reason = tried.error === undefined ? 'this machine makes no user namespaces' : 'there is no unshare on the PATH';

/** A group of tests about isolation; where there is none, it is skipped and its title says why. */
export function describeIsolated(title: string, options: { timeout?: number }, suite: () => void): void {
  if (hasNamespaces) describe(title, options, suite);
  else describe.skip(`${title} (skipped: ${reason})`, options, suite);
}
