import type { Output } from '../../daemon/surroundings.ts';
import type { Line } from './lines/line.ts';
import { type Palette, paintLine } from './lines/paint-line.ts';

/** Alternate screen, no cursor, no line wrap, pastes are marked. */
const enter = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h';
const leave = '\u001b[m\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l';

/** A terminal that supports these shows the content between them at once (DEC 2026); others ignore them. */
const begin = '\u001b[?2026h';
const end = '\u001b[?2026l';

/**
 * The whole screen of a terminal. What must hold: a frame is one write with only the changed lines, and none when
 * nothing changed; at most one frame is being written; after `close` the terminal is restored, however often it is
 * called.
 */
export interface Screen extends Disposable {
  /** Whether the terminal has taken the last frame. Until then, further frames are skipped. */
  isFree(): boolean;
  show(lines: readonly Line[]): void;
  /** Draws the next frame in full, because the content of the screen is unknown. */
  forget(): void;
}

export function openScreen(output: Pick<Output, 'write' | 'writableLength'>, palette: Palette): Screen {
  let shown: readonly string[] | null = null;
  let isOpen = true;
  const isFree = (): boolean => !(output.writableLength > 0);
  output.write(enter);
  return {
    isFree,
    show(lines) {
      if (!isOpen || !isFree()) return;
      const painted = lines.map((line) => paintLine(line, palette));
      const before = shown;
      const changed = painted.flatMap((line, row) => {
        if (before?.[row] === line) return [];
        return [`\u001b[${row + 1};1H\u001b[2K${line}`];
      });
      // The terminal takes the whole frame sooner or later, so the next one builds on it.
      shown = painted;
      if (changed.length > 0) output.write(`${begin}${before === null ? '\u001b[2J' : ''}${changed.join('')}${end}`);
    },
    forget() {
      shown = null;
    },
    [Symbol.dispose]() {
      if (!isOpen) return;
      isOpen = false;
      output.write(leave);
    },
  };
}
