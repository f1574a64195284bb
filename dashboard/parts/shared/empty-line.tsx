import type { ComponentChildren, VNode } from 'preact';

interface EmptyLineProps {
  /** The content is being read. */
  readonly isAsking?: boolean;
  readonly children: ComponentChildren;
}

/** One line instead of an empty list. */
export function EmptyLine({ isAsking = false, children }: EmptyLineProps): VNode {
  return (
    <p class="empty" aria-busy={isAsking}>
      {children}
    </p>
  );
}
