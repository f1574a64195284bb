import { type Signal, signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { isTooMuchMarkdown } from '../../data/text/markdown-limits.ts';
import { Text } from './text.tsx';

type Render = typeof import('../../data/text/markdown.ts').markdownToElements;

/** Not every screen shows Markdown; the first that does loads the renderer, and until then the source text is shown. */
const render: Signal<Render | null> = signal(null);

export function Markdown({ source }: { readonly source: string }): VNode {
  const toElements = render.value;
  useEffect(() => {
    if (render.peek() !== null) return;
    void import('../../data/text/markdown.ts').then(({ markdownToElements }) => {
      render.value = markdownToElements;
    });
  }, []);
  const content = useMemo(() => (isTooMuchMarkdown(source) ? undefined : toElements?.(source)), [source, toElements]);
  return (
    <div class="prose" dir="auto">
      {content ?? <Text text={source} lines />}
    </div>
  );
}
