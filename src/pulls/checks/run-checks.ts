import { type Clock, sleep, within } from '../../clock/clock.ts';
import type { Logger } from '../../core/logger.ts';
import type { Check, PullRequest } from '../../core/pull/pull-request.ts';
import type { Store } from '../../store/store.ts';
import type { CheckEnd, WaitingCheck } from '../../store/tables/pulls/checks.ts';
import { reasonOf } from '../../workspace/file-system.ts';
import { type CleanRun, type CleanRunParts, notRun, openCleanRun, type WantedCommand } from './clean-run.ts';

export interface CheckParts extends CleanRunParts {
  readonly project: string;
  readonly store: Pick<Store, 'checks' | 'projects' | 'pullRequests'>;
  /** Who runs checks, where several daemons share the store; null where none does. */
  readonly lease: { readonly owner: string; readonly leaseMs: number } | null;
  /** The commands of `review.checks`. */
  readonly wanted: readonly WantedCommand[];
  /** `workspace.setup`, which prepares a new checkout; null: none. */
  readonly setup: { readonly script: string; readonly timeoutMs: number } | null;
  readonly logger: Logger;
}

/** A check that ended just now. */
export interface EndedCheck {
  readonly pull: PullRequest;
  readonly check: Pick<Check, 'commit' | 'name' | 'result'>;
}

/** First and longest wait before skipped checks are tried again. */
const firstAgainMs = 60_000;
const longestAgainMs = 3_600_000;

/**
 * Skipped checks of heads that stand in review are tried again: what stopped them is about the machine or the settings,
 * not about the commit. A new daemon and changed settings try at once; then the waits grow.
 */
export class SkippedChecks {
  readonly #clock: Clock;
  #tries: ReadonlyMap<string, { readonly times: number; readonly dueAt: number }> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Plans those that are due. */
  async plan({ store, wanted, setup }: Pick<CheckParts, 'store' | 'wanted' | 'setup'>, pulls: readonly PullRequest[]) {
    const tries = new Map<string, { readonly times: number; readonly dueAt: number }>();
    const now = this.#clock.monotonic();
    for (const pull of pulls) {
      const checks = await store.checks.list(pull, pull.headCommit);
      const skipped = wanted.filter(({ name }) =>
        checks.some((each) => each.name === name && each.result === 'skipped'),
      );
      if (skipped.length === 0) continue;
      const key = JSON.stringify([pull.number, pull.headCommit, wanted, setup]);
      const before = this.#tries.get(key) ?? { times: 0, dueAt: now };
      const waitMs = Math.min(firstAgainMs * 2 ** before.times, longestAgainMs);
      const isDue = now >= before.dueAt;
      tries.set(key, isDue ? { times: before.times + 1, dueAt: now + waitMs } : before);
      if (!isDue) continue;
      for (const { name, run } of skipped)
        await store.checks.again(pull, pull.headCommit, { name, command: run }, ['skipped']);
    }
    this.#tries = tries;
  }
}

/** Plans the checks of the head of a pull request. Those of a head that has them stay as they are. */
export function planChecks({ store, wanted }: Pick<CheckParts, 'store' | 'wanted'>, pull: PullRequest): Promise<void> {
  const planned = wanted.map(({ name, run }) => ({ name, command: run }));
  return store.checks.plan(pull, pull.headCommit, planned);
}

/** Renewals per lease. */
const renewalsALease = 3;

/**
 * Runs the checks of a project that have no result, one after another. What must hold:
 *
 * - One daemon of a shared store does so at a time. One that cannot renew its lease ends its check before the lease is
 *   over, without a result.
 * - A check runs on exactly its commit, in a clean checkout that no agent worked in; the checks of one commit share it,
 *   after `workspace.setup`. It is contained and isolated as hooks are, and ended with everything it started.
 * - Its result is bound to the commit and written once. A check whose daemon is lost, or is stopped, has no result and runs
 *   again. The folder of a lost daemon is removed at the next start, with the scratch folder.
 * - What could not run is `skipped`, which is not green: the head moved on, the pull request ended, the check is no longer in
 *   the settings, the commit could not be checked out, or its setup failed. While the head stands, it is tried again.
 * - No output is stored with a secret of the settings in it.
 */
export async function runWaitingChecks(parts: CheckParts): Promise<readonly EndedCheck[]> {
  const { clock, lease, project, store } = parts;
  if (lease === null) return runAllWaiting(parts);
  const { owner, leaseMs } = lease;
  const stepMs = leaseMs / renewalsALease;
  const take = (): Promise<boolean> => store.projects.leaseChecks(project, owner, { at: clock.now(), leaseMs });
  if (!(await take())) return [];
  const [done, lost] = [new AbortController(), new AbortController()];
  const keeping = (async () => {
    for (;;) {
      await sleep(clock, stepMs, done.signal);
      if ((await within(clock, stepMs, take())) !== true) return lost.abort();
    }
  })().catch(() => (done.signal.aborted ? undefined : lost.abort()));
  try {
    return await runAllWaiting({ ...parts, signal: AbortSignal.any([parts.signal, lost.signal]) });
  } finally {
    done.abort();
    await keeping;
    // A lease that stays ends by itself.
    await store.projects.releaseChecks(project, owner).catch(() => false);
  }
}

async function runAllWaiting(parts: CheckParts): Promise<readonly EndedCheck[]> {
  const { store, project, signal } = parts;
  const ended: EndedCheck[] = [];
  while (!signal.aborted) {
    const waiting = await store.checks.waiting(project);
    const [first] = waiting;
    if (first === undefined) break;
    const together = waiting.filter(({ number, commit }) => number === first.number && commit === first.commit);
    const pull = await store.pullRequests.read({ project, number: first.number });
    // A foreign key holds them together; without it there is nothing to run.
    if (pull === null) break;
    const note = async (check: WaitingCheck, end: Omit<CheckEnd, 'at'>): Promise<void> => {
      const { commit, name } = check;
      await store.checks.end(pull, commit, name, { ...end, at: parts.clock.now() });
      ended.push({ pull, check: { commit, name, result: end.result } });
      const code = end.result === 'skipped' ? 'check_not_run' : 'check_ended';
      const { issueId: issue_id, identifier: issue_identifier, number } = pull;
      parts.logger.info(code, {
        issue_id,
        issue_identifier,
        pull_request: number,
        commit,
        check: name,
        result: end.result,
      });
    };
    const isOld = pull.headCommit !== first.commit || pull.merged !== null || pull.closed !== null;
    if (isOld) for (const check of together) await note(check, notRun('Another commit is in review now.'));
    else await runTogether(pull, together, parts, note);
  }
  return ended;
}

type Note = (check: WaitingCheck, end: Omit<CheckEnd, 'at'>) => Promise<void>;

async function runTogether(
  pull: PullRequest,
  together: readonly WaitingCheck[],
  parts: CheckParts,
  note: Note,
): Promise<void> {
  const { signal, store, setup, wanted } = parts;
  const commit = pull.headCommit;
  const skipAll = async (why: string): Promise<void> => {
    if (!signal.aborted) for (const check of together) await note(check, notRun(why));
  };
  const { issueId: id, identifier, title, baseCommit } = pull;
  let opened: CleanRun;
  try {
    opened = await openCleanRun(parts, { issue: { id, identifier, title }, commit, baseCommit });
  } catch (error) {
    return skipAll(`The commit could not be checked out: ${reasonOf(error)}`);
  }
  await using clean = opened;
  if (setup !== null) {
    const end = await clean.run({ name: 'workspace.setup', run: setup.script, timeoutMs: setup.timeoutMs });
    if (end === null) return;
    if (end.result !== 'passed') return await skipAll(`workspace.setup did not succeed.\n${end.output}`);
  }
  for (const check of together) {
    const known = wanted.find(({ name, run: command }) => name === check.name && command === check.command);
    if (known === undefined) {
      await note(check, notRun('The check is no longer in the workflow file.'));
      continue;
    }
    if (!(await store.checks.start(pull, commit, check.name, parts.clock.now()))) continue;
    const end = await clean.run(known);
    if (end === null) return;
    await note(check, end);
  }
}
