import { visibleCharacter } from './harmless-line.ts';

/**
 * Foreign text that a person approves. What must hold: two texts that differ look different (only a tab may look
 * like blanks), and no part of a text looks like Baton's own words next to it. So every character that is not plainly visible has a picture or a name, and so has
 * every character that such a picture, a name or a quotation is made of.
 */
const notPlain = new RegExp(
  [
    // Controls except tab and line feed, formats, half pairs, private and unassigned ones, every space but the usual one.
    String.raw`[^\P{C}\t\n]|[^\P{Z} ]|[\p{DI}\u2800]`,
    // Pictures of controls, the brackets of names, the marks of a quotation.
    String.raw`[\u2400-\u243f⟦⟧«»]`,
    // Marks without a character to stand on, and more marks than a reader can tell apart.
    String.raw`(?<=^|\s|\p{M}{3})[\p{M}\p{Emoji_Modifier}\uff9e\uff9f]`,
  ].join('|'),
  'gu',
);
const blanksAtEnd = /[ \t]+$/gm;

/** On one line, between marks that show where it ends: `«npm test»`. */
export function exactLine(text: string): string {
  return `«${exact(text).replaceAll('\n', visibleCharacter).replaceAll('\t', visibleCharacter)}»`;
}

/** Line by line; each line begins with a bar, so that none of them looks like a line of Baton. */
export function exactBlock(text: string): string {
  return exact(text)
    .split('\n')
    .map((line) => `│ ${line}`)
    .join('\n');
}

function exact(text: string): string {
  return text
    .replace(notPlain, visibleCharacter)
    .replaceAll(blanksAtEnd, (blanks) => blanks.replaceAll(' ', '\u2420').replaceAll('\t', visibleCharacter));
}
