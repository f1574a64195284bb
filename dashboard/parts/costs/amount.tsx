import type { VNode } from 'preact';
import { isCostUnknown } from '../../data/costs/usage-sums.ts';
import { costWords, tokenWords } from '../../data/text/words.ts';
import { hint } from '../shared/tooltip.tsx';

/** Tokens, short; the tooltip shows the whole number. */
export function Tokens({ count }: { readonly count: number }): VNode {
  return (
    <span class="number" title={`${count.toLocaleString()} tokens`}>
      {tokenWords(count)}
    </span>
  );
}

interface CostProps {
  readonly of: { readonly cost_usd: number; readonly total_tokens: number };
}

/** Why a cost is not known, and how to make it known. */
const noPriceHint =
  'No price configured: the agent reports no cost, and agent.prices in the workflow file has none for its model';

/** A cost, as far as it is known. */
export function Cost({ of }: CostProps): VNode {
  // Nothing was used yet, so nothing is known of its price either.
  if (of.total_tokens === 0 && of.cost_usd === 0) return <span class="none">–</span>;
  if (isCostUnknown(of)) {
    return (
      <span class="none" {...hint(noPriceHint)}>
        no price
      </span>
    );
  }
  return (
    <span class="number" title={`${of.cost_usd.toFixed(4)} US dollars`}>
      {costWords(of.cost_usd)}
    </span>
  );
}

/** How much of something is used, as a bar and in words. It warns at 80 % and is full at 100 %. */
export function Meter({ used, label }: { readonly used: number; readonly label: string }): VNode {
  const percent = Math.max(0, Math.min(100, used));
  const level = percent >= 100 ? 'full' : percent >= 80 ? 'high' : 'low';
  return (
    <span class={`meter ${level}`} role="img" aria-label={`${label}: ${Math.round(used)} percent used`}>
      <span style={{ width: `${percent}%` }} />
    </span>
  );
}
