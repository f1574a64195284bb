import { type BatonError, toBatonError } from '../core/baton-error.ts';
import type { Issue } from '../core/issue.ts';
import type { OrchestratorContext } from './context.ts';
import { applyRefresh, claimedBefore } from './reconcile.ts';

/** What a poll found wrong, by the step of the tick it belongs to. */
export interface PollError {
  readonly step: 'reconcile' | 'dispatch';
  readonly error: BatonError;
}

/**
 * Asks the tracker, beside the ticks: one read of the active issues answers for the candidates and for most of the runs;
 * only claimed issues that are not in it are read by id. Then, in this order (seed 2, Reconciliation First): the runs
 * are reconciled, and free slots are filled. With a workflow file that cannot be used only the runs are looked after.
 */
export async function poll(context: OrchestratorContext): Promise<readonly PollError[]> {
  const { state, source, reads, logger, stopping } = context;
  const errors: PollError[] = [];
  const { workflow, problem } = source.read();
  const { settings } = workflow;
  const before = claimedBefore(state);
  let candidates: readonly Issue[] | null = null;
  if (problem === null) {
    try {
      candidates = await reads.byStates(settings.tracker.activeStates);
    } catch (thrown) {
      errors.push({ step: 'dispatch', error: toBatonError(thrown) });
    }
  }
  // What was forgotten while it was read is not known.
  const known = new Map(
    candidates?.filter((issue) => reads.lastRead(issue.id) === issue).map((issue) => [issue.id, issue]),
  );
  const missing = before.ids.filter((id) => !known.has(id));
  let refreshed: ReadonlyMap<string, Issue | null> = known;
  try {
    refreshed = new Map([...known, ...(await reads.byIds(missing))]);
  } catch (thrown) {
    const error = toBatonError(thrown);
    if (!stopping.aborted) logger.warn('The running issues could not be read; everything stays as it is.', { error });
    errors.push({ step: 'reconcile', error });
  }
  if (stopping.aborted) return [];
  await applyRefresh(context, before, refreshed, settings);
  if (candidates !== null) state.candidates = candidates;
  context.fillSlots();
  return errors;
}
