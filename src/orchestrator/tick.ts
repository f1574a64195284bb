import { type BatonError, toBatonError } from '../core/baton-error.ts';
import { adoptAll, findOrphans } from './adopt.ts';
import type { OrchestratorContext } from './context.ts';
import { readPause } from './read-pause.ts';
import { serveWaitingLooks } from './waiting-looks.ts';

/** What came of one step of a tick. */
export interface StepReport {
  readonly step: TickStep;
  readonly durationMs: number;
  readonly error: BatonError | null;
}

/** Only the steps that went wrong. */
export function errorsIn(steps: readonly StepReport[]): { readonly step: TickStep; readonly error: BatonError }[] {
  return steps.flatMap(({ step, error }) => (error === null ? [] : [{ step, error }]));
}

type Step = (context: OrchestratorContext) => void | Promise<void>;

/** With a store to ourselves, what only others could have changed is read again this often. */
const ownStoreMs = 30_000;

/** Whether to read again what other daemons change. Where there are others, at every tick. */
function isDue({ state, clock, isShared }: OrchestratorContext, what: 'orphansLookedForAt' | 'pauseReadAt'): boolean {
  const now = clock.monotonic();
  if (!isShared && now - state.lookedAt[what] < ownStoreMs) return false;
  state.lookedAt[what] = now;
  return true;
}

/** Its rules come with the pipeline, or it became jobs; its place in seed 4's order is kept. */
const nothingYet: Step = () => {};

/**
 * The steps of a tick, in seed 4's order. Why this order: work that is done is moved on first; reconcile comes before
 * dispatch, because it frees slots; retries before new work, because they were promised. Steps look at what is on this
 * machine. The tracker is asked by a job beside the ticks, whose answer reconciles the runs first and then fills the
 * slots; live runs are looked after and the store is maintained by jobs too, each at its own pace (recurring-jobs.ts).
 */
const steps = {
  transitions: nothingYet,
  safety: nothingYet,
  revision_expiry: nothingYet,
  reconcile: async (context) => {
    if (isDue(context, 'pauseReadAt')) await readPause(context);
    if (context.isShared) await context.accounts.read();
    if (!isDue(context, 'orphansLookedForAt')) return;
    const orphans = await findOrphans(context);
    if (orphans.length > 0) context.own('takeover', adoptAll(context, orphans));
  },
  retries: (context) => context.own('looks', serveWaitingLooks(context)),
  intake: nothingYet,
  dispatch: (context) => {
    const { problem } = context.source.read();
    // Nothing new starts with a workflow file that cannot be used.
    if (problem !== null) throw problem;
    if (context.room.whyNone() !== null) context.own('room', context.room.look());
    context.fillSlots();
  },
  maintenance: nothingYet,
} as const satisfies Record<string, Step>;

export type TickStep = keyof typeof steps;

/** One pass of the steps (law 5): each in its own error boundary, none begun after the orchestrator was told to stop. */
export async function runTick(context: OrchestratorContext): Promise<StepReport[]> {
  const reports: StepReport[] = [];
  for (const [step, run] of Object.entries<Step>(steps) as [TickStep, Step][]) {
    if (context.stopping.aborted) break;
    const startedAt = context.clock.monotonic();
    let error: BatonError | null = null;
    try {
      await run(context);
    } catch (thrown) {
      if (!context.stopping.aborted) {
        error = toBatonError(thrown);
        // What is wrong with the workflow file was told when it appeared.
        if (error !== context.source.read().problem) context.logger.error('tick_step_failed', { step, error });
      }
    }
    reports.push({ step, durationMs: context.clock.monotonic() - startedAt, error });
  }
  return reports;
}
