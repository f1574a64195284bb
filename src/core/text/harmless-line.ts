/**
 * Foreign text comes from anyone. As text it cannot run, but it can lie: a control character can move the cursor of a
 * terminal, reverse the order of a line or hide a part of it. Here such characters become visible. Nothing is left
 * out: what a terminal would hide is what a reader has to see.
 *
 * - Control characters become their pictures (`␛`).
 * - A character that reorders, joins or has no width becomes its name (`⟦U+202E⟧`).
 */
export function harmlessText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(suspicious, (character) => {
    return innocent.has(character) ? character : visibleCharacter(character);
  });
}

/** The same for a terminal, where the width of a tab depends on its column. */
export function harmlessLines(text: string): string {
  return harmlessText(text).replaceAll('\t', '    ');
}

/** The same on one line. */
export function harmlessLine(text: string): string {
  return harmlessText(text.replace(/\s+/gu, ' ').trim());
}

/** How many characters a variable gets: Linux allows at most 128 KiB with the name. */
const longestValue = 4_096;

/** Foreign text as the value of an environment variable. */
export function variableValue(text: string): string {
  return harmlessLine(text).slice(0, longestValue);
}

/** Controls, formats, half pairs, other ends of lines, and what a font may leave out (`Default_Ignorable_Code_Point`). */
const suspicious = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu;

/** A tab, the end of a line; and whether a sign is drawn as text or in colour, which hides nothing. */
const innocent: ReadonlySet<string> = new Set(['\t', '\n', '\ufe0e', '\ufe0f']);
const pictures = 0x2400;
const deletePicture = '\u2421';

/** The picture of a control character, the name of any other. */
export function visibleCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(pictures + code);
  if (code === 0x7f) return deletePicture;
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧`;
}
