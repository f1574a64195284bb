/**
 * Text of issues, comments and agents comes from anyone. As text it cannot run, but it can deceive: a control character
 * can reverse the order of a line or hide a part of it. This makes such characters visible and changes nothing else.
 *
 * - Control characters become their pictures (`␛`), but a tab and the end of a line stay.
 * - A character that reorders, joins or has no width becomes its name (`⟦U+202E⟧`).
 */
export function harmlessText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(suspicious, named);
}

/** Controls, formats, half pairs, other ends of lines, and what a font may leave out (`Default_Ignorable_Code_Point`). */
const suspicious = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu;

/** A tab, the end of a line, and the two characters that choose between a text and a colour emoji. */
const innocent: ReadonlySet<number> = new Set([0x09, 0x0a, 0xfe0e, 0xfe0f]);
const pictures = 0x2400;
const deletePicture = '\u2421';

function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (innocent.has(code)) return character;
  if (code < 0x20) return String.fromCodePoint(pictures + code);
  if (code === 0x7f) return deletePicture;
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧`;
}

/** The same on one line, for a place without space for more. */
export function harmlessLine(text: string): string {
  return harmlessText(text.replace(/\s+/gu, ' ').trim());
}
