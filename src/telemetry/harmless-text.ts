/**
 * Characters above ASCII that control a terminal or an editor instead of showing: DEL and the C1 controls, line and
 * paragraph separators, marks that turn the direction of text. JSON leaves them as they are.
 */
const invisible = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Escapes such characters in JSON text; the result parses to the same value. */
export function escapeInvisible(json: string): string {
  return json.replace(invisible, escapeCharacter);
}

/** Escapes everything that could control a terminal, including line feeds. */
export function escapeControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose.
  return escapeInvisible(text.replace(/[\u0000-\u001f]/g, escapeCharacter));
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
