/**
 * Characters above ASCII that steer a terminal or an editor instead of showing: DEL and the C1 controls, line and
 * paragraph separators, marks that turn the direction of text. JSON leaves them as they are.
 */
const invisible = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The JSON text with such characters as escapes; it parses to the same value. */
export function escapeInvisible(json: string): string {
  return json.replace(invisible, escapeCharacter);
}

/** The text with everything that could steer a terminal, line feeds included, as escapes. */
export function escapeControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is what this is for.
  return escapeInvisible(text.replace(/[\u0000-\u001f]/g, escapeCharacter));
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
