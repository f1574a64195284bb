import { isDeepStrictEqual } from 'node:util';
import { toBatonError } from '../core/baton-error.ts';
import { type DispatchDecision, planDispatch } from '../core/dispatch-plan.ts';
import { isAboutSlots } from '../core/eligibility.ts';
import type { Issue } from '../core/issue.ts';
import type { WorkflowReading } from '../core/workflow.ts';
import type { OrchestratorContext } from './context.ts';
import { evaluationKey } from './evaluation-key.ts';
import { type ClaimBeside, outsideGates } from './outside-gates.ts';
import { takenSlots } from './scheduling-state.ts';
import { startRun } from './start-run.ts';
import { serveWaitingLooks } from './waiting-looks.ts';

/** So many issues are read in one go: those that start now, and the next, so that the next freed slots need no read. */
const readTogether = 50;

/**
 * Fills free slots, in order, from the candidates already known: at once after a poll, after a run's end and after a
 * command, never waiting for the next poll (no competitor does this). Looks that wait for a slot come first (seed 4).
 * An issue that was not just read is read again by id before it starts. One at a time; asked again meanwhile, it looks
 * once more. While nothing changed that a decision depends on, none is made.
 */
export class SlotFiller {
  readonly #context: OrchestratorContext;
  #working = false;
  #wanted = false;
  /** What the last decision was made of; null when there was none, or it could not be carried out. */
  #decidedOn: string | null = null;

  constructor(context: OrchestratorContext) {
    this.#context = context;
  }

  fill(): void {
    this.#wanted = true;
    if (this.#working) return;
    this.#working = true;
    this.#context.own(
      'dispatch',
      this.#work().finally(() => {
        this.#working = false;
        // Asked between the last look at `#wanted` and here.
        if (this.#wanted && !this.#context.stopping.aborted) this.fill();
      }),
    );
  }

  async #work(): Promise<void> {
    const { stopping } = this.#context;
    while (this.#wanted && !stopping.aborted) {
      this.#wanted = false;
      await this.#context.room.look();
      await serveWaitingLooks(this.#context);
      tellPool(this.#context, await this.#startCandidates());
    }
  }

  async #startCandidates(): Promise<boolean> {
    const key = evaluationKey(this.#context, this.#context.source.read());
    if (key === this.#decidedOn) return true;
    const isAble = await startCandidates(this.#context);
    // A start that fails later leaves everything as it was: what started something is not taken for decided.
    const hasChanged = evaluationKey(this.#context, this.#context.source.read()) !== key;
    this.#decidedOn = isAble && !hasChanged ? key : null;
    return isAble;
  }
}

/** False when the tracker did not let it: then it cannot use a slot now. */
async function startCandidates(context: OrchestratorContext): Promise<boolean> {
  const { state, source, reads, stopping, logger } = context;
  const asked = new Set<string>();
  // What was asked for here counts as just read to the end, however short the freshness: nobody asks in circles.
  const { freshnessMs } = source.read().workflow.settings.polling;
  const justRead: JustRead = (id) => (asked.has(id) ? reads.lastRead(id) : reads.freshWithin(id, freshnessMs));
  // Each round reads what the round before found to be stale.
  while (!stopping.aborted && state.candidates !== null) {
    const reading = source.read();
    state.candidates = state.candidates.flatMap((issue) => {
      const known = asJustRead(justRead, issue);
      if (known !== issue && !isDeepStrictEqual(known, issue)) state.doubtful.add(issue.id);
      return known;
    });
    const plan = decide(context, reading, state.candidates);
    const stale = plan.filter(({ reason, issue }) => reason === null && justRead(issue.id) === undefined);
    if (stale.length === 0) {
      carryOut(context, plan);
      return true;
    }
    try {
      for (const id of await refresh(context, plan, stale)) asked.add(id);
    } catch (thrown) {
      const error = toBatonError(thrown);
      if (!stopping.aborted) logger.warn('candidates_unreadable', { error });
      const reason = { code: 'not_read', text: `it could not be read again: ${error.message}` } as const;
      for (const { issue } of stale) state.skipped.set(issue.id, { issue, reason });
      return false;
    }
  }
  return true;
}

/** Whether this project wants a slot that the others have: of its candidates or of its retries. */
function tellPool({ state, pool }: OrchestratorContext, isAble: boolean): void {
  const reasons = [
    ...[...state.skipped.values()].map(({ reason }) => reason),
    ...[...state.retrying.values()].map(({ wait }) => wait),
  ];
  pool?.setWaiting(isAble && reasons.some((reason) => reason?.code === 'no_slot_in_baton'));
}

/** No await from the decision to here: what was decided is started before anything else can change the state. */
function carryOut(context: OrchestratorContext, plan: readonly DispatchDecision[]): void {
  const { state, source, pool } = context;
  const { workflow } = source.read();
  state.skipped.clear();
  for (const { issue, reason } of plan) {
    // Other projects of this Baton take slots too: each start is asked for by itself.
    const refusal = reason ?? pool?.mayStart() ?? null;
    if (refusal === null) startRun(context, { issue, workflow, look: null });
    // What is claimed here is shown with its run, its retry or its hold.
    else if (refusal.code !== 'claimed') state.skipped.set(issue.id, { issue, reason: refusal });
  }
}

/** Reads again what would start now, and what would start next. What is gone, or cannot start any more, drops out. */
async function refresh(
  context: OrchestratorContext,
  plan: readonly DispatchDecision[],
  stale: readonly DispatchDecision[],
): Promise<readonly string[]> {
  const { reads } = context;
  const next = plan
    .filter(({ reason }) => reason !== null && isAboutSlots(reason))
    .slice(0, Math.max(0, readTogether - stale.length));
  const ids = [...stale, ...next].map(({ issue }) => issue.id);
  await reads.byIds(ids, { job: 'dispatch', cause: 'revalidation' });
  return ids;
}

/** The issue as it was just read, null when it is gone, undefined when it was not. */
type JustRead = (issueId: string) => Issue | null | undefined;

/** A candidate with what was learned of it since the poll; nothing when it is gone. */
function asJustRead(justRead: JustRead, issue: Issue): Issue | readonly [] {
  const fresh = justRead(issue.id);
  return fresh === undefined ? issue : (fresh ?? []);
}

/** What would start now and what not, without starting anything. */
export async function previewDispatch(
  context: OrchestratorContext,
  beside: readonly ClaimBeside[],
): Promise<DispatchDecision[]> {
  const reading = context.source.read();
  const { activeStates } = reading.workflow.settings.tracker;
  const issues = await context.reads.byStates(activeStates, { job: 'dry_run', cause: 'person' });
  return decide(context, { ...reading, problem: null }, issues, beside);
}

function decide(
  context: OrchestratorContext,
  reading: WorkflowReading,
  issues: readonly Issue[],
  beside: readonly ClaimBeside[] = [],
): DispatchDecision[] {
  const { settings } = reading.workflow;
  return planDispatch({
    issues,
    settings,
    runningStates: [...takenSlots(context.state), ...beside.flatMap(({ slotInState }) => slotInState ?? [])],
    startMove: context.trackerFor(settings).startMove,
    outside: outsideGates(context, reading, beside),
  });
}
