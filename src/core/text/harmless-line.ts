// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose.
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g;

/**
 * Foreign text as one line for people: no control characters, no terminal escapes, nothing that turns its direction.
 */
export function harmlessLine(text: string): string {
  return text
    .replaceAll(escapes, '')
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
}

/** The same for text of many lines, which stay; so does indentation. */
export function harmlessLines(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(escapes, '')
    .replaceAll(/[^\P{Cc}\n\t]|\p{Cf}|[\u2028\u2029]/gu, ' ')
    .replaceAll('\t', '    ');
}
