import type { VNode } from 'preact';
import { harmlessLine, harmlessText } from '../../../src/core/text/harmless-line.ts';

/** Text by someone else: shown as plain text, isolated from the writing direction around it. */
export function Text({ text, lines = false }: { readonly text: string; readonly lines?: boolean }): VNode {
  return <bdi class={lines ? 'said lines' : 'said'}>{lines ? harmlessText(text) : harmlessLine(text)}</bdi>;
}
