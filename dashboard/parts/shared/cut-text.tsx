import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Markdown } from './markdown.tsx';

interface CutTextProps {
  readonly source: string;
  /** The stable name of the button that shows all of it (`data-part`). */
  readonly part: string;
}

/** Markdown that is cut if it is long, until the user wants all of it, so that what follows is within reach. */
export function CutText({ source, part }: CutTextProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const isLong = useSignal(false);
  const isWhole = useSignal(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    // The content grows when the Markdown renderer is loaded, and with the width of the window.
    const sizes = new ResizeObserver(() => {
      isLong.value = isWhole.peek() || element.scrollHeight > element.clientHeight + 1;
    });
    sizes.observe(element);
    for (const child of element.children) sizes.observe(child);
    return () => sizes.disconnect();
  }, [isLong, isWhole, source]);
  return (
    <>
      <div ref={box} class={isWhole.value ? 'text' : isLong.value ? 'text cut long' : 'text cut'}>
        <Markdown source={source} />
      </div>
      {isLong.value && (
        <button
          type="button"
          class="quiet"
          data-part={part}
          aria-expanded={isWhole.value}
          onClick={() => {
            isWhole.value = !isWhole.peek();
          }}
        >
          {isWhole.value ? 'Show less' : 'Show all of it'}
        </button>
      )}
    </>
  );
}
