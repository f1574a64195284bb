import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { Explanation, IssueDetail } from '../../../src/client/schema/issue.ts';
import { runCounts } from '../../../src/core/text/run-counts.ts';
import { runHref } from '../../data/page/router.ts';
import { countWords, plainWords, sentences } from '../../data/text/words.ts';
import { Text } from '../shared/text.tsx';
import { Countdown, TimeAgo } from '../shared/time.tsx';

/** Why the issue is in its state: what happens next, its hold, and the answer of each gate (start condition). */
export function IssueWhy({ project, issue }: { readonly project: string; readonly issue: IssueDetail }): VNode {
  const { explanation, why_unknown, held, retry } = issue;
  const id = useId();
  const said = explanation === null ? (why_unknown ?? 'The reason is unknown.') : sentences(explanation.next);
  const next = atWork[issue.activity ?? ''] ?? said;
  const tone =
    held !== null || issue.activity === 'asking' ? 'needs' : issue.activity === 'running' ? 'running' : 'waiting';
  return (
    <section class="why-here" aria-labelledby={id}>
      <h2 id={id}>Why it is in this state</h2>
      <div class={`tone ${tone} said-why`}>
        <p class="next">
          <Text text={next} />
        </p>
        {held !== null && (
          <p data-part="held">
            Held <TimeAgo at={held.since} />: <Text text={held.text} lines />
            {held.run_id !== null && (
              <>
                {' '}
                <a href={runHref(project, held.run_id)}>Show the run</a>
              </>
            )}
          </p>
        )}
        {retry !== null && (
          <p data-part="retry">
            {retry.attempt === null ? 'Next check' : `Retry ${retry.attempt}`} <Countdown at={retry.due_at} />
            {retry.error !== null && (
              <>
                : <Text text={retry.error} lines />
              </>
            )}
          </p>
        )}
      </div>
      {explanation !== null && (
        <ul class="counts" aria-label="Runs">
          {runCounts(explanation.counts).map(({ name, text }) => (
            <li key={name} data-count={name}>
              {text}
            </li>
          ))}
        </ul>
      )}
      {explanation !== null && <Gates gates={explanation.gates} isAtWork={next !== said} />}
    </section>
  );
}

/** An issue with one of these activities has started, so its start conditions do not matter now. */
const atWork: Readonly<Record<string, string>> = {
  running: 'An agent is working on this issue.',
  asking: 'An agent is working on this issue and waits for your answer.',
};

/** If one of these gates refuses, the other gates do not matter. */
const lastWords: ReadonlySet<string> = new Set(['not_terminal', 'active']);

interface GatesProps {
  readonly gates: Explanation['gates'];
  readonly isAtWork: boolean;
}

/** Shows the refusals if they are the reason for waiting; the other gates are shown on request. */
function Gates({ gates, isAtWork }: GatesProps): VNode {
  const refused = gates.filter(({ passed }) => !passed);
  const last = refused.find(({ gate }) => lastWords.has(gate));
  const said = isAtWork ? [] : last === undefined ? refused : [last];
  const others = gates.filter((gate) => !said.includes(gate));
  const isAllWell = others.every(({ passed }) => passed);
  return (
    <div class="gates">
      {said.length > 0 && <GateList label="Start conditions that are not met" gates={said} />}
      {others.length > 0 && (
        <details>
          <summary>
            {isAllWell
              ? `${countWords(others.length, 'start condition is', 'start conditions are')} met`
              : `${countWords(others.length, 'condition', 'conditions')} for a new start`}
          </summary>
          <GateList label={isAllWell ? 'Start conditions that are met' : 'Conditions for a new start'} gates={others} />
        </details>
      )}
    </div>
  );
}

interface GateListProps {
  readonly label: string;
  readonly gates: Explanation['gates'];
}

function GateList({ label, gates }: GateListProps): VNode {
  return (
    <ul aria-label={label}>
      {gates.map(({ gate, passed, text }) => (
        <li key={gate} class={passed ? undefined : 'refused'}>
          <span class="mark" role="img" aria-label={passed ? 'met' : 'not met'}>
            {passed ? '✓' : '✕'}
          </span>
          <span class="gate">{plainWords(gate)}</span>
          <Text text={text} lines />
        </li>
      ))}
    </ul>
  );
}
