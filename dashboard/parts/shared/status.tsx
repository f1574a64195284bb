import type { VNode } from 'preact';
import { plainWords } from '../../data/text/words.ts';

/**
 * The meaning of a colour. It is never alone: a word beside it says the same.
 *
 * - `needs`: a person is waited for. `broken`: only what is broken. `running`: an agent is at it.
 * - `landed`: it is done and well. `waiting`: nothing is to be done now.
 */
export type Tone = 'needs' | 'broken' | 'running' | 'landed' | 'waiting';

export function Status({ tone, word }: { readonly tone: Tone; readonly word: string }): VNode {
  return <span class={`status ${tone}`}>{plainWords(word)}</span>;
}
