/** A prompt template as a run used it. */
export interface PromptName {
  /** The same for the same text, whatever file it is in. */
  readonly version: string;
  /** Where the text is: a file, a setting, or `built in`. */
  readonly source: string;
}

/**
 * Whether an issue gets the second prompt, for a share in percent. What must hold: it depends on the id of the issue alone,
 * so that all runs of an issue get the same prompt; a larger share keeps every issue that had the second prompt before.
 */
export function getsSecondPrompt(issueId: string, share: number): boolean {
  return pointOf(issueId) < share / 100;
}

/** A number from 0 up to, but not including, 1; spread evenly over any ids. A mixing of 32 bits, FNV-1a and murmur3's end. */
export function pointOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
