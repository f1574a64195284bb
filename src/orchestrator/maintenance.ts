import type { Settings } from '../core/settings.ts';
import { pruneStore } from '../store/prune-store.ts';
import type { OrchestratorContext } from './context.ts';
import { everything, sweepWorkspaces } from './sweep-workspaces.ts';

const job = 'prune_store';
const pruneEveryMs = 3_600_000;
/** How often the store is asked whether it is due. */
const lookEveryMs = 60_000;
const dayMs = 24 * 3_600_000;
/** Rows a step; between two steps everybody else has their turn. */
const pruneStep = 200;
/** Minute buckets are for looking at today and yesterday; the day buckets stay. */
const requestMinutesDays = 7;
const sweepEveryMs = 600_000;
/** So soon after the last one where somebody waits for it. */
const wantedSweepMs = 2_000;
const salvageEveryMs = dayMs;

/**
 * The last step of a tick: work that may be late. When it is due is in the store, so that a restart does not do it again;
 * it is begun here and goes on beside the ticks, for nothing slow is awaited inside one (law 5).
 */
export async function maintain(context: OrchestratorContext): Promise<void> {
  const { store, project, clock, source, state } = context;
  // Workspaces and salvage are of this machine, whoever shares the store: their times are kept here.
  beginSweep(context);
  if (clock.monotonic() - state.lookedAt.maintainedAt < lookEveryMs) return;
  state.lookedAt.maintainedAt = clock.monotonic();
  beginSalvagePruning(context);
  const { retentionDays } = source.read().workflow.settings.store;
  const timer = (await store.jobTimers.list(project)).find((each) => each.job === job);
  if (timer !== undefined && timer.nextDueAt > clock.now()) return;
  await store.jobTimers.put({ project, job, lastRunAt: clock.now(), nextDueAt: clock.now() + pruneEveryMs });
  context.own('maintenance', prune(context, retentionDays));
}

function beginSweep(context: OrchestratorContext): void {
  const { state, clock } = context;
  const now = clock.monotonic();
  state.lookedAt.sweptAt ??= now;
  const waitMs = state.isSweepWanted ? wantedSweepMs : sweepEveryMs;
  if (state.isSweeping || now - state.lookedAt.sweptAt < waitMs) return;
  state.isSweepWanted = false;
  state.lookedAt.sweptAt = now;
  state.isSweeping = true;
  const swept = sweepWorkspaces(context, everything).finally(() => {
    state.isSweeping = false;
  });
  context.own('sweep', swept);
}

function beginSalvagePruning(context: OrchestratorContext): void {
  const { state, clock, source } = context;
  const now = clock.monotonic();
  const { settings } = source.read().workflow;
  if (settings.workspace.salvageRetentionDays === 0 || now - state.lookedAt.salvagePrunedAt < salvageEveryMs) return;
  state.lookedAt.salvagePrunedAt = now;
  context.own('salvage', pruneSalvage(context, settings));
}

async function pruneSalvage(context: OrchestratorContext, settings: Settings): Promise<void> {
  const { logger } = context;
  try {
    const dropped = await context.pruneSalvage(settings);
    if (dropped > 0) logger.info('Salvaged work that is older than wanted was dropped.', { dropped });
  } catch (error) {
    logger.warn('Old salvaged work could not be dropped; it is tried again in a day.', { error });
  }
}

async function prune(
  { store, transcripts, clock, logger, stopping }: OrchestratorContext,
  retentionDays: number,
): Promise<void> {
  const olderThanMs = retentionDays === 0 ? null : retentionDays * dayMs;
  try {
    const { runIds, events, commands, requestMinutes } = await pruneStore(
      store,
      clock,
      {
        now: clock.now(),
        runsOlderThanMs: olderThanMs,
        commandsOlderThanMs: olderThanMs,
        requestMinutesOlderThanMs: requestMinutesDays * dayMs,
        step: pruneStep,
      },
      stopping,
    );
    await transcripts.remove(runIds);
    if (runIds.length + events + commands + requestMinutes === 0) return;
    logger.info('What is older than wanted was removed from the store.', {
      runs: runIds.length,
      events,
      commands,
      requestMinutes,
    });
  } catch (error) {
    logger.warn('The store could not be pruned; it is tried again in an hour.', { error });
  }
}
