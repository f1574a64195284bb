import type { ComponentChildren, VNode } from 'preact';
import { isCostUnknown, type Sum } from '../data/costs/usage-sums.ts';
import { tokenWords } from '../data/text/words.ts';
import { Cost, Tokens } from '../parts/costs/amount.tsx';

interface CostsSumsProps {
  readonly total: Sum;
  /** Some days have tokens without a known cost, so the sum is too low. */
  readonly hasUnpriced: boolean;
}

/** The sums on top. */
export function CostsSums({ total, hasUnpriced }: CostsSumsProps): VNode {
  const { input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, total_tokens, runs } = total;
  return (
    <section aria-label="Sums">
      <dl class="sums">
        <SumFact label="Cost">{isCostUnknown(total) ? <NoPrice /> : <Cost of={total} />}</SumFact>
        <SumFact label="Runs">{runs.toLocaleString()}</SumFact>
        <SumFact label="Tokens">
          <Tokens count={total_tokens} />
        </SumFact>
        <SumFact label="Input" part={partWords(cached_input_tokens, input_tokens, 'cached')}>
          <Tokens count={input_tokens} />
        </SumFact>
        <SumFact label="Output" part={partWords(reasoning_tokens, output_tokens, 'reasoning')}>
          <Tokens count={output_tokens} />
        </SumFact>
      </dl>
      {hasUnpriced && (
        <details class="no-price" data-part="no_price">
          <summary>
            {isCostUnknown(total)
              ? 'How to see costs in dollars: agent.prices'
              : 'Some tokens have no price, so the real cost is higher. How to add it: agent.prices'}
          </summary>
          <p>
            The agent reports no cost. Give the price of its model in US dollars per million tokens, in the front matter
            of the workflow file; <code>"*"</code> stands for every model. Baton uses it from the next run on.
          </p>
          <pre>{pricesExample}</pre>
        </details>
      )}
    </section>
  );
}

const pricesExample = `agent:
  prices:
    "*": {input: 1.25, cached_input: 0.125, output: 10}`;

/** Not the largest word of the page: it says what is missing, not an amount. */
function NoPrice(): VNode {
  return <span class="none no-amount">no price configured</span>;
}

interface SumFactProps {
  readonly label: string;
  readonly part?: string | null;
  readonly children: ComponentChildren;
}

function SumFact({ label, part = null, children }: SumFactProps): VNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <strong>{children}</strong>
        {part !== null && <small> {part}</small>}
      </dd>
    </div>
  );
}

/** A part that the number before already includes: `15.0M cached, 62 %`. */
function partWords(part: number, whole: number, what: string): string {
  const share = whole > 0 ? Math.round((part / whole) * 100) : 0;
  return `${tokenWords(part)} ${what}, ${share} %`;
}
