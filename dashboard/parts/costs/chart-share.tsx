import type { VNode } from 'preact';
import { type Sum, tokenParts } from '../../data/costs/usage-sums.ts';

interface ShareBarProps {
  readonly sum: Sum;
  /** The tokens of the longest bar in the same table. */
  readonly longest: number;
}

/** One bar of three parts, as long as its share of the longest; the numbers are next to it in the table. */
export function ShareBar({ sum, longest }: ShareBarProps): VNode {
  const { input, cached, output } = tokenParts(sum);
  const widthOf = (tokens: number): number => (longest > 0 ? (tokens / longest) * 100 : 0);
  const parts = [
    ['part-cached', cached, 0],
    ['part-input', input, cached],
    ['part-output', output, cached + input],
  ] as const;
  return (
    <svg class="share-bar" width="100%" height="10" aria-hidden="true">
      {parts.map(([part, tokens, before]) => (
        <rect key={part} class={part} x={`${widthOf(before)}%`} width={`${widthOf(tokens)}%`} y="0" height="10" />
      ))}
    </svg>
  );
}
