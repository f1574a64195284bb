import type { VNode } from 'preact';
import { dismissFeedback, feedbackAt, type Spot } from '../../data/connection/actions.ts';
import { plainWords, sentences } from '../../data/text/words.ts';
import { CopyButton } from './copy-button.tsx';
import { Text } from './text.tsx';

/** The result of the last action at a spot, in the daemon's words. */
export function ActionFeedback({ spot }: { readonly spot: Spot }): VNode | null {
  const feedback = feedbackAt(spot);
  if (feedback === null) return null;
  const { phase, text, nextStep, facts } = feedback;
  const copies = Object.entries(facts).filter((fact): fact is [string, string] => typeof fact[1] === 'string');
  return (
    <output class={`feedback ${phase}`}>
      {phase === 'refused' && <strong>Refused: </strong>}
      <Text text={phase === 'sending' ? text : sentences(text, nextStep)} />
      {phase !== 'sending' && (
        <button
          type="button"
          class="quiet"
          data-part="dismiss"
          aria-label="Dismiss"
          onClick={() => dismissFeedback(spot)}
        >
          ×
        </button>
      )}
      {copies.map(([name, value]) => (
        <span key={name} class="fact">
          <code>
            <Text text={value} />
          </code>
          <CopyButton text={value} label={`Copy ${plainWords(name)}`} />
        </span>
      ))}
    </output>
  );
}
