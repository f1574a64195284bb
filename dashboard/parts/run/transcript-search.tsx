import type { VNode } from 'preact';
import type { RunEvent } from '../../../src/client/schema/run.ts';
import { tellEvent } from '../../data/run/transcript-kinds.ts';
import { countWords } from '../../data/text/words.ts';
import { TypedFilter } from '../shared/typed-filter.tsx';

/** Whether an event contains a text, in any case; `wanted` is in lower case. */
export function hasText(event: RunEvent, wanted: string): boolean {
  const { text, detail } = tellEvent(event);
  return [event.message, text, detail ?? ''].some((each) => each.toLowerCase().includes(wanted));
}

interface SearchProps {
  readonly label: string;
  readonly wanted: string;
  readonly found: number;
  /** Which of those found is shown, from 0. */
  readonly current: number;
  readonly onStep: (step: 1 | -1) => void;
  /** Reads further back for it; null where everything is read. */
  readonly onFurther: (() => void) | null;
}

/** The search in a transcript; the key / goes here. Enter goes to the next hit, Shift and Enter to the previous one. */
export function TranscriptSearch({ label, wanted, found, current, onStep, onFurther }: SearchProps): VNode {
  return (
    <search class="transcript-search">
      <TypedFilter name="q" label={label} placeholder={label} onEnter={(isBackwards) => onStep(isBackwards ? -1 : 1)} />
      {wanted !== '' && (
        <>
          <output class="quiet-text">
            {found === 0
              ? 'nothing found'
              : current < 0
                ? countWords(found, 'place', 'places')
                : `${current + 1} of ${found}`}
          </output>
          <button type="button" class="quiet" aria-label="The place before" onClick={() => onStep(-1)}>
            ↑
          </button>
          <button type="button" class="quiet" aria-label="The next place" onClick={() => onStep(1)}>
            ↓
          </button>
          {onFurther !== null && (
            <button type="button" class="quiet" onClick={onFurther}>
              Search further back
            </button>
          )}
        </>
      )}
    </search>
  );
}
