import { type Clock, sleep } from '../../clock/clock.ts';
import type { Output } from '../../daemon/surroundings.ts';
import { cellText } from '../cell-text.ts';
import { plainLines } from './lines/plain-lines.ts';
import { timeOfDay } from './lines/short-text.ts';
import { askNow, type TopSource } from './top-source.ts';

const askEveryMs = 1_000;

/**
 * The view for pipes and files: a line for each change, until the signal. A daemon that goes away or comes back is a
 * change too.
 */
export async function followPlainly(
  source: TopSource,
  output: Output,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const changes = plainLines();
  let isGone = false;
  const write = (text: string): void => void output.write(`${text}\n`);
  const tell = (text: string): void => write(`${timeOfDay(clock.now())} ${text}`);
  while (!signal.aborted) {
    const asked = await askNow(source, clock);
    if (signal.aborted) return;
    if ('problem' in asked) {
      if (!isGone) tell(`The daemon does not answer: ${cellText(asked.problem)}`);
      isGone = true;
    } else {
      if (isGone) tell('The daemon answers again.');
      isGone = false;
      for (const line of changes(asked.nows, clock.now())) write(line);
    }
    for (const line of source.log()) write(cellText(line));
    await sleep(clock, askEveryMs, signal).catch(() => {
      // The sleep was cut short; the loop checks why.
    });
  }
}
