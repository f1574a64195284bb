import { sleep } from '../../clock/clock.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { listenForStop } from '../../daemon/stop-on-signal.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openWorkplace } from '../../daemon/workplace.ts';
import type { RunEventLine } from '../../store/tables/run-events.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { findRun, type RunsFlags } from './show-runs.ts';

const lookEveryMs = 300;
const batch = 500;

/** `baton runs log`: the events of a run; with `-f` also those to come, until the run has ended. */
export async function logRun(
  id: string,
  flags: RunsFlags & { readonly follow?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { runId } = await findRun(workplace, id);
  const { runs, runEvents } = workplace.store;
  const stop = new AbortController();
  using signals = listenForStop(surroundings);
  signals.follow({ stop: () => stop.abort(), endNow: () => stop.abort() });
  // Whom it was written for has gone.
  surroundings.stdout.once('error', () => stop.abort());
  let afterSeq = 0;
  while (!stop.signal.aborted) {
    // Asked before the events are read: what an ended run has told is then complete.
    const hasEnded = ((await runs.read(runId))?.finish ?? null) !== null;
    const events = await runEvents.list(runId, { afterSeq, limit: batch });
    for (const event of events) surroundings.stdout.write(flags.json ? jsonLine(presented(event)) : line(event));
    afterSeq = events.at(-1)?.seq ?? afterSeq;
    if (events.length === batch) continue;
    if (!flags.follow || hasEnded) break;
    await sleep(systemClock, lookEveryMs, stop.signal).catch(() => {
      // Told to stop: the loop sees it.
    });
  }
  return exitCodes.ok;
}

function line({ at, name, summary }: RunEventLine): string {
  return `${new Date(at).toISOString().slice(11, 23)}  ${name.padEnd(20)} ${harmlessLine(summary)}\n`;
}

function presented({ seq, at, name, summary }: RunEventLine): Record<string, unknown> {
  return { seq, at: new Date(at).toISOString(), event: name, message: summary };
}
