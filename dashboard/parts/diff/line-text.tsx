import { type Signal, signal, useSignal } from '@preact/signals';
import type { RefObject, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { highlightLines, Piece } from '../../data/diff/highlight.ts';
import { Text } from '../shared/text.tsx';

/** Not every screen shows code; the first file that does loads the colours, and until then it has none. */
const loaded: Signal<typeof highlightLines | null> = signal(null);

/** What colours code; null while it is not loaded, or not wanted. */
export function useHighlighter(isWanted: boolean): typeof highlightLines | null {
  useEffect(() => {
    if (!isWanted || loaded.peek() !== null) return;
    import('../../data/diff/highlight.ts').then(
      (module) => {
        loaded.value = module.highlightLines;
      },
      // The daemon is away; the next file tries again.
      () => {},
    );
  }, [isWanted]);
  return isWanted ? loaded.value : null;
}

/** Lines and colours are made shortly before a person can see them: this far beyond the window. */
const nearMargin = '600px';

/** Whether an element is near the window; once it was, that stays so. A large change is drawn and coloured as far as it is read. */
export function useIsNear(element: RefObject<Element | null>): boolean {
  const isNear = useSignal(false);
  useEffect(() => {
    if (element.current === null || isNear.peek()) return;
    const sight = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        isNear.value = true;
        sight.disconnect();
      },
      { rootMargin: nearMargin },
    );
    sight.observe(element.current);
    return () => sight.disconnect();
  }, [element, isNear]);
  return isNear.value;
}

/** A longer line is cut until the user asks for the rest: no one reads it, and a browser is slow with it. */
const longestShown = 2_000;

/** The text of a line, in the colours of its language where they are known. It is text whatever it contains. */
export function LineText({
  text,
  pieces,
}: {
  readonly text: string;
  readonly pieces: readonly Piece[] | undefined;
}): VNode {
  if (text.length > longestShown) return <LongLine text={text} />;
  if (pieces === undefined) return <Text text={text} lines />;
  return (
    <bdi class="said lines">
      {pieces.map(({ kind, text: part }, index) =>
        kind === null ? (
          part
        ) : (
          <span key={index} class={`code-${kind}`}>
            {part}
          </span>
        ),
      )}
    </bdi>
  );
}

function LongLine({ text }: { readonly text: string }): VNode {
  const isWhole = useSignal(false);
  if (isWhole.value) return <Text text={text} lines />;
  return (
    <>
      <Text text={text.slice(0, longestShown).toWellFormed()} lines />{' '}
      <button
        type="button"
        class="quiet"
        onClick={() => {
          isWhole.value = true;
        }}
      >
        Show {text.length - longestShown} more characters
      </button>
    </>
  );
}
