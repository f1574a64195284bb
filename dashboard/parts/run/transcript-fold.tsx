import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { countWords } from '../../data/text/words.ts';
import { Text } from '../shared/text.tsx';

interface FoldProps {
  readonly text: string;
  /** How many lines are visible before it is opened. */
  readonly lines?: number;
  /** The name of the content, for the button. */
  readonly name: string;
}

const longestLine = 500;
/** A browser draws no more than this at once without being slow. */
const mostCharacters = 200_000;

/** A text that may be long: its first lines, and all of it on request. */
export function Fold({ text, lines = 6, name }: FoldProps): VNode {
  const isOpen = useSignal(false);
  const all = text.replace(/\n+$/u, '').split('\n');
  const isLong = all.length > lines + 2 || text.length > lines * longestLine;
  const start = all
    .slice(0, lines)
    .map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line))
    .join('\n');
  const rest = text.length - mostCharacters;
  return (
    <div class="folded-text">
      <pre class={isOpen.value ? 'open' : ''}>
        <Text text={isLong && !isOpen.value ? start : all.join('\n').slice(0, mostCharacters)} lines />
      </pre>
      {isOpen.value && rest > 0 && (
        <p class="quiet-text">{countWords(rest, 'more character is', 'more characters are')} not shown.</p>
      )}
      {isLong && (
        <button
          type="button"
          class="quiet"
          aria-expanded={isOpen.value}
          onClick={() => {
            isOpen.value = !isOpen.peek();
          }}
        >
          {isOpen.value ? `Fold ${name}` : `Show ${name}: ${countWords(all.length, 'line', 'lines')}`}
        </button>
      )}
    </div>
  );
}
