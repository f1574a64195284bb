import { sleep } from '../../../src/clock/clock.ts';
import type { CheckResult } from '../../../src/core/pull/pull-request.ts';
import type { OrchestratorParts } from '../../../src/orchestrator/assemble.ts';
import { planChecks, SkippedChecks } from '../../../src/pulls/checks/run-checks.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Incarnation } from '../incarnation.ts';
import type { World } from '../world.ts';
import type { ReviewWorld } from './review-world.ts';

/**
 * Runs the checks that have no result, one after another, with results from the world instead of commands. A check
 * ends with its daemon and then has no result.
 */
export function simulatedChecks(
  world: World,
  review: ReviewWorld,
  incarnation: Incarnation,
  storeNow: () => Store,
): OrchestratorParts['runChecks'] {
  const { project } = world;
  const { clock } = incarnation;
  const skipped = new SkippedChecks(clock);
  return async (settings, pulls, signal) => {
    const store = storeNow();
    const wanted = settings.review.checks.map(({ name, run }) => ({ name, run, timeoutMs: 0 }));
    for (const pull of pulls) await planChecks({ store, wanted }, pull);
    await skipped.plan({ store, wanted, setup: null }, pulls);
    while (!signal.aborted) {
      const [next] = await store.checks.waiting(project);
      if (next === undefined) return;
      const { number, commit, name } = next;
      const pull = await store.pullRequests.read({ project, number });
      if (pull === null) return;
      const isOld = pull.headCommit !== commit || pull.merged !== null || pull.closed !== null;
      const result = isOld ? 'skipped' : await run(commit, name, signal);
      if (result === null) return;
      const output = `the output of ${review.mark()} on ${commit}`;
      await store.checks.end(pull, commit, name, { at: clock.now(), result, exitCode: 1, output });
      world.tally(`check: ${result}`);
    }
  };

  /** Null: it was stopped with the daemon. */
  function run(commit: string, name: string, signal: AbortSignal): Promise<CheckResult | null> {
    return incarnation.call('checks.run', async () => {
      const durationMs = world.draw.review.logBetween(100, review.plan.slowestCheckMs);
      await sleep(clock, durationMs, signal).catch(() => {});
      return signal.aborted ? null : review.resultOf(commit, name, world.isCalm);
    });
  }
}
