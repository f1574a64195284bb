import type { VNode } from 'preact';
import { CutText } from '../shared/cut-text.tsx';
import { EmptyLine } from '../shared/empty-line.tsx';

/** What is asked. */
export function IssueDescription({ text }: { readonly text: string | null }): VNode {
  const isAsked = text !== null && text.trim() !== '';
  return (
    <section class="description" aria-label="What is asked">
      {isAsked ? <CutText source={text} part="whole_description" /> : <EmptyLine>No description.</EmptyLine>}
    </section>
  );
}
