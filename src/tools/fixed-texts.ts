/**
 * Texts that the reference fixes word for word (its conformance rows A16 and A35): users' prompts may rely on them, so
 * they must not change.
 */

export function unsupportedToolText(name: string): string {
  return `Unsupported dynamic tool: ${JSON.stringify(name)}.`;
}
