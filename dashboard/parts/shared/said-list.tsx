import type { VNode } from 'preact';
import type { Tone } from './status.tsx';
import { Text } from './text.tsx';

interface SaidListProps {
  readonly said: readonly { readonly code: string; readonly text: string }[];
  readonly tone: Tone;
}

/** Baton's messages about itself, each with its code. */
export function SaidList({ said, tone }: SaidListProps): VNode {
  return (
    <ul class="said-list">
      {said.map(({ code, text }) => (
        <li key={`${code} ${text}`} class={`tone ${tone}`}>
          <Text text={text} />
          <code>
            <Text text={code} />
          </code>
        </li>
      ))}
    </ul>
  );
}
