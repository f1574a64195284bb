import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { Issue } from '../core/issue.ts';
import type { RunOutcome, StopReason } from '../core/run.ts';
import type { LiveRun, Runner, RunRequest } from '../runner/runner.ts';
import type { RunStart } from '../store/runs.ts';
import type { Journal } from './journal.ts';

export interface RecordedRun {
  readonly request: RunRequest;
  readonly record: RunStart;
  readonly runner: Runner;
  readonly journal: Journal;
  /** Tells the tracker that work begins, where that is Baton's business; gives the issue as it is then. */
  readonly begin: () => Promise<Issue>;
}

/**
 * A run that is written down before it begins and again when it has ended. When its start cannot be written, or the
 * tracker refuses that work begins because somebody moved the issue meanwhile, it does not begin (seed 4, Layer 1). A stop
 * that arrives before it has begun is passed on as soon as it has.
 */
export function startRecordedRun({ request, record, runner, journal, begin }: RecordedRun): LiveRun {
  let live: LiveRun | null = null;
  let stopReason: StopReason | null = null;
  const run = async (): Promise<RunOutcome> => {
    try {
      await journal.runStarts(record);
    } catch (thrown) {
      return { end: 'failed', turns: 0, error: toBatonError(thrown) };
    }
    const outcome = await begin().then(
      (issue) => {
        live = runner.start({ ...request, issue });
        if (stopReason !== null) live.stop(stopReason);
        return live.outcome;
      },
      (thrown): RunOutcome => notBegun(toBatonError(thrown, 'tracker_request')),
    );
    await journal.runEnds(record.runId, outcome);
    return outcome;
  };
  return {
    outcome: run(),
    stop: (reason) => {
      stopReason ??= reason;
      live?.stop(reason);
    },
  };
}

/** A refusal is somebody's decision and gives the issue back; an error of the tracker is a failure and is retried. */
function notBegun(error: BatonError): RunOutcome {
  if (error.retryable) return { end: 'failed', turns: 0, error };
  const refusal = new BatonError('run_cancelled', `The run did not begin: ${error.message}`, { cause: error });
  return { end: 'canceled_by_reconciliation', turns: 0, error: refusal };
}
