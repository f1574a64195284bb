import type { ComponentChildren, VNode } from 'preact';

/** Where a list is empty: one line that says something useful. */
export function EmptyLine({ children }: { readonly children: ComponentChildren }): VNode {
  return <p class="empty">{children}</p>;
}
