import { type BatonError, toBatonError } from '../core/baton-error.ts';
import { type Issue, normalizeState } from '../core/issue.ts';
import { decideAboutRun } from '../core/reconcile-decision.ts';
import type { RequestCaller } from '../core/request-caller.ts';
import type { Settings } from '../core/settings.ts';
import type { OrchestratorContext } from './context.ts';
import { followLandings, type LandingsWish, landingsToAsk } from './follow-landings.ts';
import { applyRefresh, type ClaimedBefore, claimedBefore } from './reconcile.ts';
import type { ReadSnapshot } from './tracker-reads.ts';

/** What a poll found wrong, by the step of the tick it belongs to. */
export interface PollError {
  readonly step: 'reconcile' | 'dispatch';
  readonly error: BatonError;
}

const caller: RequestCaller = { job: 'tracker_poll', cause: 'poll' };
/** So many of those that are welcome take their turn a poll. */
const atATime = 10;

/**
 * Asks the tracker, beside the ticks: one read answers for the candidates, for the claimed issues and for the counts.
 * Then, in this order (seed 2, Reconciliation First): the runs are reconciled, and free slots are filled. With a workflow
 * file that cannot be used, or with next to no requests left, only the runs are looked after. A read that failed leaves
 * everything as it was, and costs no second one; the job that this is tells of it.
 */
export async function poll(context: OrchestratorContext): Promise<readonly PollError[]> {
  const { state, source, stopping, clock } = context;
  const { workflow, problem } = source.read();
  const { settings } = workflow;
  const before = claimedBefore(state);
  const askedAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const isShort = pressureStep(context, settings) === 'custody_only';
  const { snapshot, isWhole, errors } =
    problem === null && !isShort
      ? await readEverything(context, settings, before)
      : await readClaimed(context, before.ids);
  if (stopping.aborted) return [];
  if (snapshot !== null) await applyRefresh(context, before, snapshot.watched, settings);
  if (snapshot !== null && isWhole) takeIn(context, settings, snapshot.issues);
  context.fillSlots();
  if (snapshot !== null && isWhole) await followLandings(context, settings, snapshot, askedAt);
  return errors;
}

interface PollAnswer {
  readonly snapshot: ReadSnapshot | null;
  /** Whether it has every candidate. */
  readonly isWhole: boolean;
  readonly errors: readonly PollError[];
}

async function readEverything(
  context: OrchestratorContext,
  settings: Settings,
  before: ClaimedBefore,
): Promise<PollAnswer> {
  const { tracker } = settings;
  const claimed = [...before.ids, ...looksToWatch(context, settings, before)];
  const landings = landingsToAsk(context, settings);
  const watched = [...claimed, ...landings.watched];
  const welcome = nextWelcome(context, landings);
  // What waits for a review comes with the same read: it is counted where there is a bound on it, and shown in any case.
  const states = [...tracker.activeStates, ...tracker.reviewStates];
  try {
    const snapshot = await context.reads.snapshot({ states, watched, welcome }, caller);
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
 * Those that wait for their look and may be over. What is still a candidate by the last poll is not asked for; what is
 * not is, in the same read, and given back then, so that its look need not ask.
 */
function looksToWatch(
  { state, trackerFor }: OrchestratorContext,
  settings: Settings,
  { looks }: ClaimedBefore,
): readonly string[] {
  const ids = [...looks.keys()];
  if (ids.length === 0 || trackerFor(settings).isLocal === true) return ids;
  if (state.candidates === null) return [];
  const toBeDone = state.candidates.filter((issue) => decideAboutRun(issue, settings.tracker).action === 'keep');
  const found = new Set(toBeDone.map(({ id }) => id));
  return ids.filter((id) => !found.has(id));
}

/**
 * What a read by id contradicts, what a sweep wants to know (of these each poll begins where the last one ended), and what
 * is followed until it lands.
 */
function nextWelcome({ state }: OrchestratorContext, landings: LandingsWish): readonly string[] {
  const { withWorkspace } = state;
  state.withWorkspace = [...withWorkspace.slice(atATime), ...withWorkspace.slice(0, atATime)];
  return [...state.doubtful, ...landings.left, ...withWorkspace, ...landings.waiting];
}

async function readClaimed(context: OrchestratorContext, watched: readonly string[]): Promise<PollAnswer> {
  try {
    const found = await context.reads.byIds(watched, { ...caller, cause: 'running' });
    return { snapshot: { issues: [], watched: found, watchedProblem: null }, isWhole: false, errors: [] };
  } catch (thrown) {
    return { snapshot: null, isWhole: false, errors: [{ step: 'reconcile', error: toBatonError(thrown) }] };
  }
}

/** What was found is what there is to do. An issue that appeared or changed is activity; a first look is none. */
function takeIn(context: OrchestratorContext, { tracker, agent }: Settings, issues: readonly Issue[]): void {
  const { state, activity } = context;
  const isIn = (states: readonly string[]) => {
    const names = new Set(states.map(normalizeState));
    return (issue: Issue): boolean => names.has(normalizeState(issue.state));
  };
  const reviewed = issues.filter(isIn(tracker.reviewStates)).map(({ id }) => id);
  state.inReview = agent.maxInReview > 0 ? new Set(reviewed) : null;
  const isAsBefore = state.polled !== null && sameIssues(state.polled.issues, issues);
  if (isAsBefore && state.polled?.by === tracker && state.doubtful.size === 0) return;
  state.doubtful.clear();
  if (state.polled !== null && !isAsBefore) activity.note();
  state.polled = { issues, by: tracker };
  state.candidates = issues.filter(isIn(tracker.activeStates));
  state.candidatesRevision += 1;
}

function sameIssues(before: readonly Issue[], after: readonly Issue[]): boolean {
  return before.length === after.length && after.every((issue, index) => isSame(before[index], issue));
}

function isSame(before: Issue | undefined, after: Issue): boolean {
  return before === after || JSON.stringify(before) === JSON.stringify(after);
}

function pressureStep({ trackerFor }: OrchestratorContext, settings: Settings): string {
  return trackerFor(settings).pressure?.().step ?? 'free';
}
