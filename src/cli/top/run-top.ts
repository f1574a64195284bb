import type { Chance } from '../../clock/chance.ts';
import type { Clock } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { followPlainly } from './follow-plainly.ts';
import { showFullScreen } from './full-screen.ts';
import { listenForEnd, type TopEnd } from './listen-for-end.ts';
import type { TopSource } from './top-source.ts';

/** The streams of a terminal, its environment and the signals. */
export type TopTerminal = Pick<Surroundings, 'stdin' | 'stdout' | 'env' | 'onSignal'>;

export interface TopOptions {
  /** Where the keys of commands come from. */
  readonly chance?: Chance;
  /** Ends the view, as a signal does. */
  readonly stop?: AbortSignal;
  /** How far frames are apart, and how often the daemon is asked; no less than a quarter of a second. */
  readonly refreshMs?: number;
}

/**
 * Shows everything that is going on until a person leaves, or something else ends it; on anything but a terminal as lines.
 * An error that nobody expects ends it too, and is thrown when the terminal is as it was before.
 */
export async function runTop(
  source: TopSource,
  terminal: TopTerminal,
  clock: Clock,
  { chance = systemChance, stop, refreshMs = 0 }: TopOptions = {},
): Promise<TopEnd> {
  using ends = listenForEnd(terminal, stop);
  // A terminal that says so takes no escapes.
  const isTerminal = terminal.stdout.isTTY === true && terminal.env.TERM !== 'dumb';
  if (isTerminal) await showFullScreen({ source, terminal, clock, chance, ends, refreshMs });
  else await followPlainly(source, terminal.stdout, clock, ends.signal);
  return ends.how();
}
