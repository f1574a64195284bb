import type { VNode } from 'preact';

/** A baton on its way from hand to hand, and the name. */
export function Wordmark(): VNode {
  return (
    <span class="wordmark">
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <path class="stick" d="M4.5 15.5 15.5 4.5" />
        <path class="band" d="m6.6 10.2 3.2 3.2M10.2 6.6l3.2 3.2" />
      </svg>
      baton
    </span>
  );
}
