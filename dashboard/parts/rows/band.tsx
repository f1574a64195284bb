import type { ComponentChildren, VNode } from 'preact';
import { useId } from 'preact/hooks';

interface BandProps {
  /** The stable name of this part of the screen, independent of its title (`data-part`). */
  readonly part: string;
  readonly title: string;
  readonly count: number;
  /** Whether there are rows. Rows that are out of date are shown but not counted. */
  readonly hasRows?: boolean;
  /** The text when there is no row. */
  readonly empty: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a screen with a heading and rows, each on the same columns. */
export function Band({ part, title, count, hasRows = count > 0, empty, children }: BandProps): VNode {
  const id = useId();
  return (
    <section class="band" data-part={part} aria-labelledby={id}>
      <h2 id={id}>
        {title} {count > 0 && <span class="count">{count.toLocaleString()}</span>}
      </h2>
      {count === 0 && <p class="empty">{empty}</p>}
      {hasRows && <ul class="rows">{children}</ul>}
    </section>
  );
}
