import type { Chance } from '../../clock/chance.ts';
import type { Clock, Timer } from '../../clock/clock.ts';
import { drawFrame, type Size } from './frame.ts';
import { pressKey } from './input/press-key.ts';
import { readKeys } from './input/read-keys.ts';
import { colours, noColours } from './lines/paint-line.ts';
import { openLiveState } from './live-state.ts';
import type { Ends, TopTerminal } from './run-top.ts';
import { openScreen } from './screen.ts';
import { openTerminalWriter } from './terminal-writer.ts';
import type { TopSource } from './top-source.ts';
import type { Effect } from './top-state.ts';

/** The least time between frames that only new data causes. */
const leastFrameMs = 250;
/** Keys take effect at once; several keys within this time share one frame. */
const keyFrameMs = 16;
/** Times advance also when no data comes. */
const idleFrameMs = 1_000;

const usualSize: Size = { columns: 80, rows: 24 };

export interface FullScreenParts {
  readonly source: TopSource;
  readonly terminal: TopTerminal;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly ends: Ends;
  /** The time between frames. */
  readonly refreshMs: number;
  readonly notice: string;
  readonly here: (text: string) => string;
}

/**
 * Draws the state and acts on keys until the end is reached. What must hold: an error in any callback also ends the
 * view, so that the terminal is restored however it ends.
 */
export async function showFullScreen(parts: FullScreenParts): Promise<void> {
  const { source, terminal, clock, chance, ends } = parts;
  const { stdin, stdout, env } = terminal;
  const frameMs = Math.max(leastFrameMs, parts.refreshMs);
  await using writer = openTerminalWriter(stdout, clock);
  writer?.stream.on('error', () => ends.end('terminal_gone'));
  using undo = new DisposableStack();
  const screen = undo.use(openScreen(writer?.stream ?? stdout, env.NO_COLOR ? noColours : colours));
  const guarded = <A extends readonly unknown[]>(act: (...args: A) => void): ((...args: A) => void) => {
    return (...args) => {
      try {
        act(...args);
      } catch (error) {
        ends.fail(error);
      }
    };
  };
  let pageRows = 1;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let next: { readonly at: number; readonly timer: Timer } | null = null;
  /** Schedules a frame for that time, unless an earlier one is scheduled. */
  const drawBy = (at: number): void => {
    if (next !== null && next.at <= at) return;
    next?.timer.cancel();
    next = { at, timer: clock.schedule(at - clock.monotonic(), guarded(draw)) };
  };
  const draw = (): void => {
    next?.timer.cancel();
    next = null;
    // The terminal has not taken the last frame yet; the next one shows the state at its own time.
    if (!screen.isFree()) {
      drawBy(clock.monotonic() + leastFrameMs);
      return;
    }
    drawnAt = clock.monotonic();
    const size = { columns: stdout.columns || usualSize.columns, rows: stdout.rows || usualSize.rows };
    const frame = drawFrame(live.state(), size, clock.now());
    pageRows = Math.max(1, frame.height - 1);
    live.update((state) => ({ ...state, listTop: frame.listTop, pageTop: frame.pageTop }));
    screen.show(frame.lines);
    drawBy(drawnAt + Math.max(frameMs, idleFrameMs));
  };
  const onData = (): void => drawBy(Math.max(clock.monotonic(), drawnAt + frameMs));
  const live = undo.use(
    openLiveState({
      source,
      clock,
      chance,
      onChange: onData,
      fail: ends.fail,
      refreshMs: frameMs,
      notice: parts.notice,
      here: parts.here,
    }),
  );
  undo.defer(() => next?.timer.cancel());
  const carryOut = (effect: Effect): void => {
    if (effect.do === 'submit') live.submit(effect.wish);
    else if (effect.do === 'look') live.look(effect.row, effect.thenAnswer);
    else if (effect.do === 'redraw') screen.forget();
    else ends.end(effect.do === 'quit' ? 'quit' : 'interrupted');
  };
  const onResize = guarded(() => {
    screen.forget();
    draw();
  });
  stdout.on('resize', onResize);
  undo.defer(() => stdout.off('resize', onResize));
  if (stdin.isTTY === true) {
    const wasRaw = stdin.isRaw;
    undo.defer(() => {
      stdin.setRawMode(wasRaw);
      stdin.pause();
    });
    stdin.setRawMode(true);
    undo.defer(
      readKeys(
        stdin,
        clock,
        guarded((keys) => {
          for (const key of keys) {
            // Keys after the end are ignored.
            if (ends.signal.aborted) return;
            const { state, effect } = pressKey(live.state(), key, pageRows);
            live.update(() => state);
            if (effect !== null) carryOut(effect);
          }
          drawBy(clock.monotonic() + keyFrameMs);
        }),
      ),
    );
    stdin.resume();
  }
  guarded(draw)();
  await ends.reached;
}
