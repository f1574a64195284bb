import type { RunEvent } from '../../client/schema/run.ts';
import { sleep } from '../../clock/clock.ts';
import { stageWords } from '../../core/run/run.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import { listenForStop } from '../../daemon/stop-on-signal.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import type { RunsFlags } from './show-runs.ts';

const readEveryMs = 300;

/** `baton runs log`: the events of a run; with `-f` also new ones, until the run has ended. */
export async function logRun(
  id: string,
  flags: RunsFlags & { readonly follow?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const { project } = connection;
  const { clock, stdout } = surroundings;
  // An issue's name stands for its newest run at this moment: a later run must not continue this log.
  const { run_id: runId } = await project.run(id);
  const stop = new AbortController();
  using signals = listenForStop(surroundings);
  signals.follow({ stop: () => stop.abort(), endNow: () => stop.abort() });
  // The reader has closed the output.
  stdout.once('error', () => stop.abort());
  let after = 0;
  while (!stop.signal.aborted) {
    const page = await project.events(runId, after);
    for (const event of page.events) stdout.write(flags.json ? jsonLine(event) : line(event));
    after = page.after;
    if (page.has_more) continue;
    if (!flags.follow || page.run_ended) break;
    await sleep(clock, readEveryMs, stop.signal).catch(() => {
      // Aborted by a stop; the loop checks it.
    });
  }
  return exitCodes.ok;
}

function line({ at, event, message }: RunEvent): string {
  return `${at.slice(11, 23)}  ${event.padEnd(20)} ${harmlessLine(event === 'stage_changed' ? stageWords(message) : message)}\n`;
}
