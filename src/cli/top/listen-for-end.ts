import type { TopTerminal } from './run-top.ts';

/** How the view ended: by `q`, by Ctrl-C, by a signal or whoever started it, or because its terminal has gone. */
export type TopEnd = 'quit' | 'interrupted' | 'stopped' | 'terminal_gone';

export interface Ends extends Disposable {
  readonly reached: Promise<void>;
  readonly signal: AbortSignal;
  end(how: TopEnd): void;
  readonly fail: (error: unknown) => void;
  /** How it ended; throws what it failed with. */
  how(): TopEnd;
}

/** Listens for everything that ends the view; the first counts. */
export function listenForEnd({ stdin, stdout, onSignal }: TopTerminal, stop: AbortSignal | undefined): Ends {
  const ended = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  let outcome: { readonly how: TopEnd } | { readonly error: unknown } | null = null;
  const finish = (found: NonNullable<typeof outcome>): void => {
    outcome ??= found;
    ended.abort();
    resolve();
  };
  const end = (how: TopEnd): void => finish({ how });
  const onStop = (): void => end('stopped');
  const onGone = (): void => end('terminal_gone');
  const undo = new DisposableStack();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) undo.defer(onSignal(signal, onStop));
  stop?.addEventListener('abort', onStop, { once: true });
  undo.defer(() => stop?.removeEventListener('abort', onStop));
  // A terminal that goes away says so by an error on whichever stream is used next.
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
    ...{ reached: promise, signal: ended.signal, end, fail: (error) => finish({ error }) },
    how: () => {
      if (outcome !== null && 'error' in outcome) throw outcome.error;
      return outcome?.how ?? 'stopped';
    },
    [Symbol.dispose]: () => undo.dispose(),
  };
}
