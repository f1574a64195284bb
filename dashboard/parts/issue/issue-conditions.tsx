import type { VNode } from 'preact';
import type { Explanation, IssueDetail } from '../../../src/client/schema/issue.ts';
import { runCounts } from '../../../src/core/text/run-counts.ts';
import { gateWords, reasonWords } from '../../data/text/gate-words.ts';
import { Text } from '../shared/text.tsx';
import { endOf } from './issue-heading.tsx';

type Gates = Explanation['gates'];

/** If one of these gates refuses, the other gates do not matter. */
const lastWords: ReadonlySet<string> = new Set(['not_terminal', 'active']);

/** What a new run of the issue needs, and what of it is missing. An issue that is over needs nothing. */
export function StartConditions({ issue }: { readonly issue: IssueDetail }): VNode | null {
  const { explanation, activity } = issue;
  if (explanation === null || endOf(issue) !== null) return null;
  const { gates, counts } = explanation;
  const refused = gates.filter(({ passed }) => !passed);
  const last = refused.find(({ gate }) => lastWords.has(gate));
  const isAtWork = activity === 'running' || activity === 'asking';
  const missing = isAtWork ? [] : last === undefined ? refused : [last];
  return (
    <section class="why-here" aria-label="Start conditions">
      <details class="gates">
        <summary>
          {missing.length > 0
            ? `${gates.length - missing.length} of ${gates.length} start conditions are met`
            : isAtWork
              ? `${gates.length} conditions for a new start`
              : `All ${gates.length} start conditions are met`}
        </summary>
        <ul class="counts" aria-label="Runs">
          {runCounts(counts).map(({ name, text }) => (
            <li key={name} data-count={name}>
              {text}
            </li>
          ))}
        </ul>
        <GateList gates={gates.toSorted((a, b) => Number(missing.includes(b)) - Number(missing.includes(a)))} />
      </details>
    </section>
  );
}

/** Only a condition that is not met needs words; `baton explain` has them for all. */
function GateList({ gates }: { readonly gates: Gates }): VNode {
  return (
    <ul aria-label="Start conditions">
      {gates.map(({ gate, passed, text }) => (
        <li key={gate} class={passed ? undefined : 'refused'}>
          <span class="mark" role="img" aria-label={passed ? 'met' : 'not met'}>
            {passed ? '✓' : '✕'}
          </span>
          <span class="gate">{gateWords(gate)}</span>
          {!passed && <Text text={reasonWords(text)} lines />}
        </li>
      ))}
    </ul>
  );
}
