import type { VNode } from 'preact';

/** Strokes on a grid of 16. */
const paths = {
  agent: 'M3 6.5h10v6H3zM8 6.5V4M6 9.5v.01M10 9.5v.01M8 3v.01',
  ask: 'M6 6a2 2 0 1 1 2.8 1.8c-.5.3-.8.6-.8 1.4M8 11.5v.01M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z',
  auto: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 2v12M8 5l4-1.5M8 8h6M8 11l4 1.5',
  block: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM3.8 3.8l8.4 8.4',
  change:
    'M4.5 5v6M4.5 5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM4.5 14a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 14a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM11.5 11V7a2 2 0 0 0-2-2H7.5',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6',
  dark: 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z',
  find: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3 14 14',
  fold: 'M10 4 6 8l4 4',
  keys: 'M2 4.5h12v7H2zM4.5 7v.01M7 7v.01M9.5 7v.01M11.5 7v.01M5 9.5h6',
  light:
    'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5V3M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.2v9.6L12.5 8z',
  plus: 'M8 3v10M3 8h10',
} as const;

export type IconName = keyof typeof paths;

/** A small picture next to a word; it never stands for the word alone to a screen reader. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
