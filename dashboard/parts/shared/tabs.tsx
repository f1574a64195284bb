import type { ComponentChildren, VNode } from 'preact';
import { linkTo, place, queryWord } from '../../data/page/router.ts';

interface Tab {
  /** As the address says it: `?tab=diff`. */
  readonly name: string;
  readonly label: string;
  readonly count?: number;
  readonly content: () => ComponentChildren;
}

/** Parts of a screen as tabs. The address names the shown one, so that Back and a sent link work. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }): VNode {
  const wanted = queryWord('tab');
  const chosen = tabs.find(({ name }) => name === wanted) ?? tabs[0];
  const others = Object.fromEntries(place.value.query);
  return (
    <>
      <nav class="tabs" aria-label={label}>
        {tabs.map(({ name, label: text, count }) => (
          <a
            key={name}
            data-part={name}
            href={linkTo(place.value.path, { ...others, tab: name })}
            aria-current={name === chosen?.name ? 'page' : undefined}
          >
            {text}
            {count !== undefined && <span class="count">{count}</span>}
          </a>
        ))}
      </nav>
      {chosen?.content()}
    </>
  );
}
