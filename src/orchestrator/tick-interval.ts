import type { OrchestratorContext } from './context.ts';

/** A tracker on this machine costs nothing to look at: it is, at least this often, whatever the poll interval. */
const localTickMs = 5_000;

/** Read again for each tick: the interval may have been changed while the last one ran (seed 1, Configuration Reloading). */
export function tickIntervalMs({ source, trackerFor, logger }: OrchestratorContext): number {
  try {
    const { settings } = source.read().workflow;
    const { intervalMs } = settings.polling;
    return trackerFor(settings).isLocal ? Math.min(intervalMs, localTickMs) : intervalMs;
  } catch (error) {
    // Whatever is wrong there, the next tick has to come.
    logger.error('The interval of the ticks could not be read.', { error });
    return localTickMs;
  }
}
