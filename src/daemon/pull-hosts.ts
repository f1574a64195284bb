import type { Logger } from '../core/logger.ts';
import type { PullRequest } from '../core/pull/pull-request.ts';
import type { Settings } from '../core/settings.ts';
import { createRedactor, secretsIn } from '../core/text/redact.ts';
import { credentialDigest } from '../http/limiter-registry.ts';
import { secretsAmong } from '../process/child-environment.ts';
import { planChecks, runWaitingChecks, SkippedChecks } from '../pulls/checks/run-checks.ts';
import { pullHosts } from '../pulls/hosts.ts';
import type { PullHostParts } from '../pulls/pull-host.ts';
import type { PullRequests } from '../pulls/pull-requests.ts';
import type { Store } from '../store/store.ts';
import type { ScriptParts } from '../workspace/hooks.ts';
import type { WorkspaceResources } from '../workspace/workspace-resources.ts';
import type { Isolate } from './compose-isolation.ts';

/**
 * The host of the pull requests by the settings; null for a project without a repository. One for each repository and
 * each way to use it, because a host keeps what it computed. Throws `unsupported_setting` for a repository that the host
 * cannot use.
 */
export function pullsMaker({
  git,
  places,
  ...parts
}: Pick<WorkspaceResources, 'git' | 'places'> & Omit<PullHostParts, 'repo' | 'review' | 'redactor'>): (
  settings: Settings,
) => PullRequests | null {
  const made = new Map<string, PullRequests>();
  return (settings) => {
    const { workspace, review } = settings;
    const { repo } = workspace;
    const host = pullHosts.find(({ name }) => name === review.host);
    if (repo === null || host === undefined) return null;
    const key = JSON.stringify([repo.location, review, credentialDigest(review.token)]);
    const known = made.get(key);
    if (known !== undefined) return known;
    const redactor = createRedactor([...secretsIn(settings), ...secretsAmong(parts.process.daemonEnv)]);
    const pulls = host.create({ repo, review, git, places, redactor, ...parts });
    made.set(key, pulls);
    return pulls;
  };
}

export interface ChecksMakerParts extends Omit<ScriptParts, 'secretEnvironment' | 'redactor'> {
  readonly project: string;
  readonly store: Store;
  /** Of this daemon, where others share the store; null where none does. */
  readonly owner: string | null;
  readonly resources: WorkspaceResources;
  readonly isolationFor: (settings: Settings) => Isolate;
  readonly logger: Logger;
}

/** Plans and runs the checks of the heads that stand in review, by the settings. */
export function checksMaker({ resources, isolationFor, owner, ...parts }: ChecksMakerParts) {
  const skipped = new SkippedChecks(parts.clock);
  return async (settings: Settings, pulls: readonly PullRequest[], signal: AbortSignal): Promise<void> => {
    const { workspace, hooks, review, secretEnvironment } = settings;
    if (workspace.repo === null) return;
    const wanted = review.checks.map(({ name, run, timeoutMs }) => ({
      name,
      run,
      timeoutMs: timeoutMs ?? review.checkTimeoutMs,
    }));
    const { git, places } = resources;
    const setup = workspace.setup === null ? null : { script: workspace.setup, timeoutMs: hooks.timeoutMs };
    const redactor = createRedactor([...secretsIn(settings), ...secretsAmong(parts.daemonEnv)]);
    const lease = owner === null ? null : { owner, leaseMs: settings.store.leaseMs };
    const own = { wanted, setup, secretEnvironment, redactor, signal, lease };
    const checks = { ...parts, git, places, repo: workspace.repo, ...own };
    for (const pull of pulls) await planChecks(checks, pull);
    await skipped.plan(checks, pulls);
    await runWaitingChecks({ ...checks, isolate: isolationFor(settings) });
  };
}
