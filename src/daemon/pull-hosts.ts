import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { PullRequest } from '../core/pull/pull-request.ts';
import type { Settings } from '../core/settings.ts';
import { setupName } from '../core/task/setup-proposal.ts';
import { createRedactor, secretsIn } from '../core/text/redact.ts';
import { credentialDigest } from '../http/limiter-registry.ts';
import { secretsAmong } from '../process/child-environment.ts';
import { proveCommands } from '../pulls/checks/prove-commands.ts';
import { planChecks, runWaitingChecks, SkippedChecks } from '../pulls/checks/run-checks.ts';
import { pullHosts } from '../pulls/hosts.ts';
import { emptyCheckout, makeJudgeCheckout } from '../pulls/judge/judge-checkout.ts';
import type { PullHostParts } from '../pulls/pull-host.ts';
import type { PullRequests } from '../pulls/pull-requests.ts';
import type { RunnerParts } from '../runner/run-session.ts';
import type { Store } from '../store/store.ts';
import { homeOf } from '../workspace/git/source/home-repository.ts';
import { readSource } from '../workspace/git/source/read-source.ts';
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
    const { review } = settings;
    const repo = homeOf(settings, places);
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
    const repo = homeOf(settings, resources.places);
    if (repo === null) return;
    const wanted = review.checks.map(({ name, run, timeoutMs }) => ({
      name,
      run,
      timeoutMs: timeoutMs ?? review.checkTimeoutMs,
    }));
    const { git, places } = resources;
    const setup = workspace.setup === null ? null : { script: workspace.setup, timeoutMs: hooks.timeoutMs };
    const redactor = redactorFor(settings, parts.daemonEnv);
    const lease = owner === null ? null : { owner, leaseMs: settings.store.leaseMs };
    const own = { wanted, setup, secretEnvironment, redactor, signal, lease };
    const checks = { ...parts, git, places, repo, ...own };
    for (const pull of pulls) await planChecks(checks, pull);
    await skipped.plan(checks, pulls);
    await runWaitingChecks({ ...checks, isolate: isolationFor(settings) });
  };
}

/** Runs commands that are not in the settings yet as those of `workspace.setup` and `review.checks` would run. */
export function proverMaker({
  resources,
  isolationFor,
  ...parts
}: Omit<ChecksMakerParts, 'project' | 'store' | 'owner' | 'logger'>): NonNullable<RunnerParts['prove']> {
  return async (settings, { setup, checks, ...about }, signal) => {
    const { hooks, review, secretEnvironment } = settings;
    const { git, places } = resources;
    const repo = homeOf(settings, places);
    if (repo === null) throw new BatonError('repository_unavailable', 'This project has no repository.');
    const redactor = redactorFor(settings, parts.daemonEnv);
    const own = { repo, git, places, secretEnvironment, redactor, signal, isolate: isolationFor(settings) };
    return proveCommands(
      { ...parts, ...own },
      { ...about, baseCommit: about.commit },
      {
        setup: setup === null ? null : { name: setupName, run: setup, timeoutMs: hooks.timeoutMs },
        checks: checks.map(({ name, run }) => {
          const known = review.checks.find((each) => each.name === name);
          return { name, run, timeoutMs: known?.timeoutMs ?? review.checkTimeoutMs };
        }),
      },
    );
  };
}

function redactorFor(settings: Settings, daemonEnv: ScriptParts['daemonEnv']): ReturnType<typeof createRedactor> {
  return createRedactor([...secretsIn(settings), ...secretsAmong(daemonEnv)]);
}

/** Makes the checkouts of judges, by the settings. */
export function judgeCheckoutMaker({ git, places }: WorkspaceResources): NonNullable<RunnerParts['checkoutFor']> {
  return async (settings, at, signal) => {
    const repo = homeOf(settings, places);
    if (repo === null && at === null) return emptyCheckout(places);
    if (repo === null) throw new BatonError('repository_unavailable', 'This project has no repository.');
    if (at !== null) return makeJudgeCheckout({ git, places, repo }, { ...at, signal });
    const { base, commits } = await readSource(git, { repo, base: settings.workspace.base, branches: [], signal });
    const commit = commits.get(base) ?? '';
    return makeJudgeCheckout({ git, places, repo }, { commit, baseCommit: commit, signal });
  };
}
