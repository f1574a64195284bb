import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import type { RequestCaller } from '../../core/requests/request-caller.ts';
import { decideAboutRun } from '../../core/run/reconcile-decision.ts';
import type { Settings } from '../../core/settings.ts';
import type { BaseParts } from '../parts.ts';
import type { Activity } from './activity.ts';
import type { Landings } from './landings.ts';
import { applyRefresh, type ClaimedBefore, claimedBefore, type ReconcileParts } from './reconcile.ts';
import type { ReadSnapshot, TrackerReads } from './tracker-reads.ts';

export interface PollParts
  extends ReconcileParts,
    Pick<BaseParts, 'clock' | 'notify' | 'source' | 'stopping' | 'trackerFor'> {
  readonly reads: TrackerReads;
  readonly landings: Landings;
  readonly activity: Activity;
  /** Free issues with a workspace here, which the sweep wants to know of; with each call others come first. */
  readonly withWorkspace: () => readonly string[];
  /** The poll was answered, or not: what is known of the candidates is as new as it gets. */
  readonly polled: () => void;
}

/** What a poll found wrong, by the step of the tick it belongs to. */
export interface PollError {
  readonly step: 'reconcile' | 'dispatch';
  readonly error: BatonError;
}

const caller: RequestCaller = { job: 'tracker_poll', cause: 'poll' };

/**
 * Asks the tracker, beside the ticks: one read answers for the candidates, for the claimed issues and for the counts.
 * Then, in this order (seed 2, Reconciliation First): the runs are reconciled, and free slots are filled. With a workflow
 * file that cannot be used, or with next to no requests left, only the runs are looked after. A read that failed leaves
 * everything as it was, and costs no second one; the job that this is tells of it.
 */
export async function poll(parts: PollParts): Promise<readonly PollError[]> {
  const { claims, candidates, landings, activity, source, stopping, clock } = parts;
  const { workflow, problem } = source.read();
  const { settings } = workflow;
  const before = claimedBefore(claims);
  const askedAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const isShort = parts.trackerFor(settings).pressure?.().step === 'custody_only';
  const { snapshot, isWhole, errors } =
    problem === null && !isShort ? await readEverything(parts, settings, before) : await readClaimed(parts, before.ids);
  if (stopping.aborted) return [];
  if (snapshot !== null) {
    await applyRefresh(parts, before, snapshot.watched, settings);
    parts.notify();
  }
  if (snapshot !== null && isWhole && candidates.takeIn(settings, snapshot.issues)) activity.note();
  parts.polled();
  if (snapshot !== null && isWhole) await landings.takeIn(settings, snapshot, askedAt);
  return errors;
}

interface PollAnswer {
  readonly snapshot: ReadSnapshot | null;
  /** Whether it has every candidate. */
  readonly isWhole: boolean;
  readonly errors: readonly PollError[];
}

async function readEverything(parts: PollParts, settings: Settings, before: ClaimedBefore): Promise<PollAnswer> {
  const { tracker } = settings;
  const claimed = [...before.ids, ...retriesToWatch(parts, settings, before)];
  const landings = parts.landings.wish(settings);
  const watched = [...claimed, ...landings.watched];
  const welcome = [...parts.candidates.doubtful, ...landings.left, ...parts.withWorkspace(), ...landings.waiting];
  // What waits for a review comes with the same read: it is counted where there is a bound on it, and shown in any case.
  const states = [...tracker.activeStates, ...tracker.reviewStates];
  try {
    const snapshot = await parts.reads.snapshot({ states, watched, welcome }, caller);
    const { watchedProblem } = snapshot;
    const errors = watchedProblem === null ? [] : [{ step: 'reconcile', error: watchedProblem } as const];
    return { snapshot, isWhole: true, errors };
  } catch (thrown) {
    const error = toBatonError(thrown);
    const steps = claimed.length > 0 ? (['reconcile', 'dispatch'] as const) : (['dispatch'] as const);
    return { snapshot: null, isWhole: false, errors: steps.map((step) => ({ step, error })) };
  }
}

/**
 * Retries whose issue may be over. What is still a candidate by the last poll is not asked for; what is not is, in the same
 * read, and given back then, so that its retry need not ask.
 */
function retriesToWatch(
  { candidates, trackerFor }: PollParts,
  settings: Settings,
  { retrying }: ClaimedBefore,
): readonly string[] {
  const ids = [...retrying.keys()];
  if (ids.length === 0 || trackerFor(settings).isLocal === true) return ids;
  if (candidates.list === null) return [];
  const toBeDone = candidates.list.filter((issue) => decideAboutRun(issue, settings.tracker).action === 'keep');
  const found = new Set(toBeDone.map(({ id }) => id));
  return ids.filter((id) => !found.has(id));
}

async function readClaimed(parts: PollParts, watched: readonly string[]): Promise<PollAnswer> {
  try {
    const found = await parts.reads.byIds(watched, { ...caller, cause: 'running' });
    return { snapshot: { issues: [], watched: found, watchedProblem: null }, isWhole: false, errors: [] };
  } catch (thrown) {
    return { snapshot: null, isWhole: false, errors: [{ step: 'reconcile', error: toBatonError(thrown) }] };
  }
}
