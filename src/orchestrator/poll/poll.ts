import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import { isInOneOf } from '../../core/issue/issue.ts';
import type { RequestCaller } from '../../core/requests/request-caller.ts';
import { decideAboutRun } from '../../core/run/reconcile-decision.ts';
import type { Settings } from '../../core/settings.ts';
import type { BaseParts } from '../parts.ts';
import { StatusMoves } from '../status/status-moves.ts';
import type { Activity } from './activity.ts';
import type { ChangeMarks } from './change-marks.ts';
import type { FinishedIssues } from './finished-issues.ts';
import { applyRefresh, type ClaimedBefore, claimedBefore, type ReconcileParts } from './reconcile.ts';
import type { ReadSnapshot, TrackerReads } from './tracker-reads.ts';

export interface PollParts
  extends ReconcileParts,
    Pick<BaseParts, 'clock' | 'notify' | 'source' | 'stopping' | 'trackerFor'> {
  readonly reads: TrackerReads;
  readonly finishedIssues: FinishedIssues;
  readonly marks: ChangeMarks;
  readonly statusMoves: StatusMoves;
  readonly activity: Activity;
  /** Free issues with a workspace here, which the sweep needs; each call puts other ones first. */
  readonly withWorkspace: () => readonly string[];
  /** The poll was answered or failed: the candidates are as fresh as possible. */
  readonly polled: () => void;
}

/** What a poll found wrong, by the step of the tick that it belongs to. */
export interface PollError {
  readonly step: 'reconcile' | 'dispatch';
  readonly error: BatonError;
}

const caller: RequestCaller = { job: 'tracker_poll', cause: 'poll' };

/**
 * Polls the tracker, apart from the ticks. One read covers the candidates, the claimed issues and the counts. Then, in
 * this order (seed 2, Reconciliation First), the runs are reconciled and free slots are filled. With an unusable
 * workflow file, or with almost no requests left, only the runs are looked after. A failed read changes nothing and is
 * not repeated; the job that calls this reports it.
 */
export async function poll(parts: PollParts): Promise<readonly PollError[]> {
  const { claims, candidates, finishedIssues, activity, source, stopping, clock } = parts;
  const { workflow, problem } = source.read();
  const { settings } = workflow;
  const before = claimedBefore(claims);
  const askedAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const isShort = parts.trackerFor(settings).pressure?.().step === 'essential_only';
  const { snapshot, isWhole, errors } =
    problem === null && !isShort ? await readEverything(parts, settings, before) : await readClaimed(parts, before.ids);
  if (stopping.aborted) return [];
  if (snapshot !== null) {
    await applyRefresh(parts, before, snapshot.watched, settings);
    parts.notify();
  }
  if (snapshot !== null && isWhole)
    await parts.marks.takeIn(snapshot.issues.filter(isInOneOf(settings.tracker.reviewStates)));
  if (stopping.aborted) return [];
  if (snapshot !== null && isWhole && candidates.takeIn(settings, snapshot.issues)) activity.note();
  parts.polled();
  if (snapshot !== null && isWhole) parts.statusMoves.takeIn(settings, snapshot.issues);
  if (snapshot !== null && isWhole) await finishedIssues.takeIn(settings, snapshot, askedAt);
  return errors;
}

interface PollAnswer {
  readonly snapshot: ReadSnapshot | null;
  /** Whether the answer has every candidate. */
  readonly isWhole: boolean;
  readonly errors: readonly PollError[];
}

async function readEverything(parts: PollParts, settings: Settings, before: ClaimedBefore): Promise<PollAnswer> {
  const { tracker } = settings;
  const claimed = [...before.ids, ...retriesToWatch(parts, settings, before)];
  const toPoll = parts.finishedIssues.issuesToPoll(settings);
  const watched = [...claimed, ...toPoll.watched];
  const welcome = [...parts.candidates.doubtful, ...toPoll.left, ...parts.withWorkspace(), ...toPoll.waiting];
  // Issues in review come with the same read: they are always shown, and counted when the settings limit them.
  const states = [...tracker.activeStates, ...tracker.reviewStates, ...StatusMoves.states(settings)];
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
 * Retries whose issue may have finished. The poll does not ask for those that were candidates in the last poll. It asks
 * for the others in the same read and releases them, so that their retry need not ask.
 */
function retriesToWatch(
  { candidates, trackerFor }: PollParts,
  settings: Settings,
  { retrying }: ClaimedBefore,
): readonly string[] {
  const ids = [...retrying.keys()];
  if (ids.length === 0 || trackerFor(settings).isLocal === true) return ids;
  const polled = candidates.withReviews;
  if (polled === null) return [];
  const found = new Map(polled.map((issue) => [issue.id, issue]));
  return ids.filter(
    (id) => decideAboutRun(found.get(id) ?? null, settings.tracker, retrying.get(id)?.role).action !== 'keep',
  );
}

async function readClaimed(parts: PollParts, watched: readonly string[]): Promise<PollAnswer> {
  try {
    const found = await parts.reads.byIds(watched, { ...caller, cause: 'running' });
    return { snapshot: { issues: [], watched: found, watchedProblem: null }, isWhole: false, errors: [] };
  } catch (thrown) {
    return { snapshot: null, isWhole: false, errors: [{ step: 'reconcile', error: toBatonError(thrown) }] };
  }
}
