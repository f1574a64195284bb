import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { Explanation, IssueDetail } from '../../../src/client/schema/issue.ts';
import { runHref } from '../../data/page/router.ts';
import { countWords, plainWords, sentences } from '../../data/text/words.ts';
import { Text } from '../shared/text.tsx';
import { Countdown, TimeAgo } from '../shared/time.tsx';

/** The reason for the issue's state, in words: the next step, its hold, and the answer of each gate. */
export function IssueWhy({ project, issue }: { readonly project: string; readonly issue: IssueDetail }): VNode {
  const { explanation, why_unknown, held, retry } = issue;
  const id = useId();
  const said = explanation === null ? (why_unknown ?? 'It could not be found out.') : sentences(explanation.next);
  const next = atWork[issue.activity ?? ''] ?? said;
  const tone =
    held !== null || issue.activity === 'asking' ? 'needs' : issue.activity === 'running' ? 'running' : 'waiting';
  return (
    <section class="why-here" aria-labelledby={id}>
      <h2 id={id}>Why it is here</h2>
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
                <a href={runHref(project, held.run_id)}>The run it was</a>
              </>
            )}
          </p>
        )}
        {retry !== null && (
          <p data-part="retry">
            Looked at again <Countdown at={retry.due_at} />
            {retry.attempt !== null && `, retry ${retry.attempt}`}
            {retry.error !== null && (
              <>
                : <Text text={retry.error} lines />
              </>
            )}
            {retry.note !== null && (
              <>
                {' '}
                The agent will be told: “<Text text={retry.note} />”
              </>
            )}
          </p>
        )}
      </div>
      {explanation !== null && <Gates gates={explanation.gates} isAtWork={next !== said} />}
    </section>
  );
}

/** For these the question whether the issue may start does not arise: it has. */
const atWork: Readonly<Record<string, string>> = {
  running: 'An agent works on it.',
  asking: 'An agent works on it, and waits for your answer.',
};

/** A finished issue waits for nothing else. */
const lastWords: ReadonlySet<string> = new Set(['not_terminal', 'active']);

interface GatesProps {
  readonly gates: Explanation['gates'];
  readonly isAtWork: boolean;
}

/** Refusals are shown where they are the reason for waiting; the other gates are there on request. */
function Gates({ gates, isAtWork }: GatesProps): VNode {
  const refused = gates.filter(({ passed }) => !passed);
  const last = refused.find(({ gate }) => lastWords.has(gate));
  const said = isAtWork ? [] : last === undefined ? refused : [last];
  const others = gates.filter((gate) => !said.includes(gate));
  const isAllWell = others.every(({ passed }) => passed);
  return (
    <div class="gates">
      {said.length > 0 && <GateList label="Gates that refuse" gates={said} />}
      {others.length > 0 && (
        <details>
          <summary>
            {isAllWell
              ? `${countWords(others.length, 'gate lets', 'gates let')} it pass`
              : `${countWords(others.length, 'gate', 'gates')} that a new start would pass or not`}
          </summary>
          <GateList label={isAllWell ? 'Gates that let it pass' : 'Gates of a new start'} gates={others} />
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
          <span class="mark" role="img" aria-label={passed ? 'passes' : 'refuses'}>
            {passed ? '✓' : '✕'}
          </span>
          <span class="gate">{plainWords(gate)}</span>
          <Text text={text} lines />
        </li>
      ))}
    </ul>
  );
}
