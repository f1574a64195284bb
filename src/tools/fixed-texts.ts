/**
 * Texts that the reference fixes word for word (its conformance rows A16 and A35): prompts in the field may rely on them,
 * so they are not reworded.
 */

export function unsupportedToolText(name: string): string {
  return `Unsupported dynamic tool: ${JSON.stringify(name)}.`;
}
