import type { Chance } from '../../clock/chance.ts';
import type { Clock } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { followPlainly } from './follow-plainly.ts';
import { showFullScreen } from './full-screen.ts';
import type { TopSource } from './top-source.ts';

/** The streams of a terminal, its environment and the signals. */
export type TopTerminal = Pick<Surroundings, 'stdin' | 'stdout' | 'env' | 'onSignal'>;

export interface TopOptions {
  /** The source of the keys of commands. */
  readonly chance?: Chance;
  /** Ends the view, as a signal does. */
  readonly stop?: AbortSignal;
  /** The time between frames and between requests to the daemon; at least a quarter of a second. */
  readonly refreshMs?: number;
  /** Shown at the bottom until the first key. */
  readonly notice?: string;
  /** Makes the commands in a text of Baton work where the reader is. */
  readonly here?: (text: string) => string;
}

/** How the view ended: by `q`, by Ctrl-C, by a signal or its caller, or because its terminal has gone. */
export type TopEnd = 'quit' | 'interrupted' | 'stopped' | 'terminal_gone';

export interface Ends extends Disposable {
  /** Resolves with how it ended; rejects with the error that ended it. */
  readonly reached: Promise<TopEnd>;
  readonly signal: AbortSignal;
  end(how: TopEnd): void;
  readonly fail: (error: unknown) => void;
}

/**
 * Shows the state of all projects until the user leaves or something else ends it; without a terminal, as lines. An
 * unexpected error also ends it, and is thrown after the terminal is restored.
 */
export async function runTop(
  source: TopSource,
  terminal: TopTerminal,
  clock: Clock,
  { chance = systemChance, stop, refreshMs = 0, notice = '', here = (text) => text }: TopOptions = {},
): Promise<TopEnd> {
  using ends = listenForEnd(terminal, stop);
  // A dumb terminal takes no escapes.
  const isTerminal = terminal.stdout.isTTY === true && terminal.env.TERM !== 'dumb';
  if (isTerminal) await showFullScreen({ source, terminal, clock, chance, ends, refreshMs, notice, here });
  else await followPlainly(source, terminal.stdout, clock, ends.signal);
  return ends.reached;
}

/** Listens for everything that ends the view; the first counts. */
function listenForEnd({ stdin, stdout, onSignal }: TopTerminal, stop: AbortSignal | undefined): Ends {
  const ended = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<TopEnd>();
  // It may reject before anything awaits it.
  promise.catch(() => {});
  const end = (how: TopEnd): void => {
    resolve(how);
    ended.abort();
  };
  const onStop = (): void => end('stopped');
  const onGone = (): void => end('terminal_gone');
  const undo = new DisposableStack();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) undo.defer(onSignal(signal, onStop));
  stop?.addEventListener('abort', onStop, { once: true });
  undo.defer(() => stop?.removeEventListener('abort', onStop));
  // A terminal that goes away causes an error on the stream that is used next.
  for (const [stream, event] of [
    [stdout, 'error'],
    [stdin, 'error'],
    [stdin, 'end'],
  ] as const) {
    if (stream === stdin && stdin.isTTY !== true) continue;
    stream.on(event, onGone);
    undo.defer(() => stream.off(event, onGone));
  }
  if (stop?.aborted) onStop();
  return {
    reached: promise,
    signal: ended.signal,
    end,
    fail: (error) => {
      reject(error);
      ended.abort();
    },
    [Symbol.dispose]: () => undo.dispose(),
  };
}
