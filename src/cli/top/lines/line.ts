import { cut, widthOf } from '../../cell-text.ts';

/** The meaning of a colour. Words or marks always say the same. */
export type Tone = 'plain' | 'strong' | 'dim' | 'good' | 'warn' | 'bad' | 'you' | 'work' | 'selected';

/** A piece of a line. Its text is Baton's own or went through `cellText`. */
export interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

export type Line = readonly Cell[];

export function cell(text: string, tone: Tone = 'plain'): Cell {
  return { text, tone };
}

export function lineText(line: Line): string {
  return line.map(({ text }) => text).join('');
}

export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** The line in exactly this many columns. */
export function exactly(line: Line, width: number): Line {
  let left = width;
  const kept: Cell[] = [];
  for (const { text, tone } of line) {
    const shown = cut(text, left);
    if (shown === '') continue;
    kept.push({ text: shown, tone });
    left -= widthOf(shown);
    if (shown !== text) break;
  }
  return left > 0 ? [...kept, cell(' '.repeat(left))] : kept;
}

/** Two lines in one: the second at the right edge if both fit; otherwise only the first. */
export function leftAndRight(left: Line, right: Line, width: number): Line {
  const gap = width - lineWidth(left) - lineWidth(right);
  return gap < 2 ? left : [...left, cell(' '.repeat(gap)), ...right];
}
