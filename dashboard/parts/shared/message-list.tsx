import type { VNode } from 'preact';
import type { Tone } from './status.tsx';
import { Text } from './text.tsx';

interface MessageListProps {
  readonly said: readonly { readonly code: string; readonly text: string }[];
  readonly tone: Tone;
}

/** Baton's messages about itself, each with its code. */
export function MessageList({ said, tone }: MessageListProps): VNode {
  return (
    <ul class="message-list">
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
