import type { ComponentChildren, VNode } from 'preact';

export interface Fact {
  readonly label: string;
  readonly value: ComponentChildren;
}

/** Short facts beside each other, each below its name. */
export function FactList({ facts }: { readonly facts: readonly Fact[] }): VNode {
  return (
    <dl class="fact-list">
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
