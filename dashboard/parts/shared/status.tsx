import type { VNode } from 'preact';
import { plainWords } from '../../data/text/words.ts';

/**
 * The meaning of a colour. It is never alone: a word next to it says the same.
 *
 * - `needs`: waits for a person. `broken`: only for defects. `running`: an agent works on it.
 * - `landed`: finished successfully. `waiting`: nothing to do now.
 */
export type Tone = 'needs' | 'broken' | 'running' | 'landed' | 'waiting';

export function Status({ tone, word }: { readonly tone: Tone; readonly word: string }): VNode {
  return <span class={`status ${tone}`}>{plainWords(word)}</span>;
}
