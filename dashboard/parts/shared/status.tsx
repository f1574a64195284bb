import type { VNode } from 'preact';
import { plainWords } from '../../data/text/words.ts';

/**
 * The meaning of a colour. It is never alone: a word next to it says the same.
 *
 * - `needs`: waits for a person. `broken`: only for defects. `running`: an agent works on it.
 * - `good`: finished successfully, or ready. `waiting`: nothing to do now.
 */
export type Tone = 'needs' | 'broken' | 'running' | 'good' | 'waiting';

export function Status({ tone, word }: { readonly tone: Tone; readonly word: string }): VNode {
  return <span class={`status ${tone}`}>{plainWords(word)}</span>;
}
