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
 * tracker refuses that work begins because somebody moved the issue meanwhile, it does not begin (seed 4, Layer 1). Nor
 * does one that is stopped before.
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
    const outcome = await begun();
    await journal.runEnds(record.runId, outcome);
    return outcome;
  };
  const begun = async (): Promise<RunOutcome> => {
    if (stopReason !== null) return cancelled(stopReason);
    let issue: Issue;
    try {
      issue = await begin();
    } catch (thrown) {
      return notBegun(toBatonError(thrown, 'tracker_request'));
    }
    if (stopReason !== null) return cancelled(stopReason);
    live = runner.start({ ...request, issue });
    return live.outcome;
  };
  return {
    outcome: run(),
    stop: (reason) => {
      stopReason ??= reason;
      live?.stop(reason);
    },
  };
}

/** A move that the board refuses is somebody's decision and gives the issue back; everything else is a failure and waits. */
function notBegun(error: BatonError): RunOutcome {
  if (error.code !== 'board_move_refused') return { end: 'failed', turns: 0, error };
  const refusal = new BatonError('run_cancelled', `The run did not begin: ${error.message}`, { cause: error });
  return { end: 'canceled_by_reconciliation', turns: 0, error: refusal };
}

function cancelled(reason: StopReason): RunOutcome {
  const error = new BatonError('run_cancelled', `The run was stopped before it began: ${reason.replaceAll('_', ' ')}.`);
  return { end: 'canceled_by_reconciliation', turns: 0, error };
}
