import { type Clock, sleep } from '../../clock/clock.ts';
import type { Output } from '../../daemon/surroundings.ts';
import { askNow } from './input/ask-now.ts';
import { cellText } from './lines/cell-text.ts';
import { plainLines } from './lines/plain-lines.ts';
import type { TopSource } from './top-source.ts';

const lookEveryMs = 1_000;

/** The same for pipes and files: a line for each change, until the signal. That the daemon is gone, or back, is one too. */
export async function followPlainly(
  source: TopSource,
  output: Output,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const changes = plainLines();
  let isGone = false;
  const write = (text: string): void => void output.write(`${text}\n`);
  const tell = (text: string): void => write(`${new Date(clock.now()).toISOString().slice(11, 19)} ${text}`);
  while (!signal.aborted) {
    const asked = await askNow(source, clock);
    if (signal.aborted) return;
    if ('problem' in asked) {
      const words = asked.isRefusal ? 'The daemon refuses to tell' : 'The daemon does not answer';
      if (!isGone) tell(`${words}: ${cellText(asked.problem)}`);
      isGone = true;
    } else {
      if (isGone) tell('The daemon answers again.');
      isGone = false;
      for (const line of changes(asked.nows, clock.now())) write(line);
    }
    for (const line of source.log()) write(cellText(line));
    await sleep(clock, lookEveryMs, signal).catch(() => {
      // It only ended sooner; the loop sees why.
    });
  }
}
