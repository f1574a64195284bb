import type { ComponentChildren, VNode } from 'preact';

/** One fact of a `dl`: its name and its value. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
