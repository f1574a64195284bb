import { isPlain, widthOf } from '../../cell-text.ts';
import type { Line, Tone } from './line.ts';

/** The attributes of each tone; empty: the default of the terminal. */
export type Palette = Readonly<Record<Tone, string>>;

/** From the sixteen colours that people choose for their terminal. */
export const colours: Palette = {
  plain: '',
  strong: '1',
  dim: '2',
  good: '32',
  warn: '33',
  bad: '31',
  you: '1;35',
  work: '36',
  selected: '7',
};

/** NO_COLOR asks for no colour; bold and reversed are not colours. */
export const noColours: Palette = { ...colours, good: '', warn: '', bad: '1', you: '1', work: '' };

/** No cell should contain these characters; this keeps a forgotten one from the terminal. */
const steering = /[\p{Cc}\p{Cf}]/gu;

/**
 * The line for a terminal. Terminals disagree on the width of some characters, so the text after any character that is
 * not ASCII is positioned at its column explicitly. A wrong width then moves nothing.
 */
export function paintLine(line: Line, palette: Palette): string {
  let painted = '';
  let column = 1;
  let isSure = true;
  for (const { text: given, tone } of withoutBlankEnd(line)) {
    const text = isPlain(given) ? given : given.replaceAll(steering, '\ufffd');
    const place = isSure ? '' : `\u001b[${column}G`;
    const attributes = palette[tone];
    painted += place + (attributes === '' ? text : `\u001b[${attributes}m${text}\u001b[m`);
    column += widthOf(text);
    isSure = isPlain(text);
  }
  return painted;
}

function withoutBlankEnd(line: Line): Line {
  const last = line.at(-1);
  if (last === undefined || last.tone === 'selected') return line;
  const text = last.text.trimEnd();
  if (text === '') return withoutBlankEnd(line.slice(0, -1));
  return [...line.slice(0, -1), { ...last, text }];
}
