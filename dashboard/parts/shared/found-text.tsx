import type { VNode } from 'preact';
import { markFound } from '../../data/text/found-words.ts';
import { harmlessLine } from '../../data/text/harmless-text.ts';

interface FoundTextProps {
  readonly text: string;
  readonly wanted: string;
}

/** Text that somebody else wrote, with what was looked for marked in it. The pieces are text, whatever is in them. */
export function FoundText({ text, wanted }: FoundTextProps): VNode {
  return (
    <bdi class="said">
      {markFound(harmlessLine(text), harmlessLine(wanted)).map((piece, index) =>
        piece.isFound ? <mark key={index}>{piece.text}</mark> : piece.text,
      )}
    </bdi>
  );
}
