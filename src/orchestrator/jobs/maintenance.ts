import type { Settings } from '../../core/settings.ts';
import { pruneStore } from '../../store/prune-store.ts';
import type { Transcripts } from '../../store/transcripts/transcript-files.ts';
import type { BaseParts } from '../parts.ts';

export interface MaintenanceParts extends Pick<BaseParts, 'clock' | 'logger' | 'source' | 'stopping' | 'store'> {
  readonly transcripts: Transcripts;
  readonly pruneSalvage: (settings: Settings) => Promise<number>;
}

const dayMs = 24 * 3_600_000;
/** Rows per step; other work runs between two steps. */
const pruneStep = 200;
/** Minute buckets show today and yesterday; the day buckets stay. */
const requestMinutesDays = 7;

/** Maintains the store: removes rows that are older than the settings allow, and lets the engine clean up. */
export async function maintainStore(parts: MaintenanceParts): Promise<void> {
  const { store, transcripts, clock, logger, stopping, source } = parts;
  const { retentionDays } = source.read().workflow.settings.store;
  const olderThanMs = retentionDays === 0 ? null : retentionDays * dayMs;
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
  if (runIds.length + events + commands + requestMinutes > 0) {
    logger.info('store_pruned', {
      runs: runIds.length,
      events,
      commands,
      requestMinutes,
    });
  }
  logger.debug('store_maintained', { ...(await store.maintain()) });
}

export async function pruneSalvage(parts: MaintenanceParts): Promise<void> {
  const { settings } = parts.source.read().workflow;
  if (settings.workspace.salvageRetentionDays === 0) return;
  const dropped = await parts.pruneSalvage(settings);
  if (dropped > 0) parts.logger.info('salvage_pruned', { dropped });
}
