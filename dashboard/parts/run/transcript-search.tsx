import type { VNode } from 'preact';
import type { RunEvent } from '../../../src/client/schema/run.ts';
import { viewOf } from '../../data/run/transcript-kinds.ts';
import { countWords } from '../../data/text/words.ts';
import { TypedFilter } from '../shared/typed-filter.tsx';

/** Whether an event contains a text, in any case; `wanted` is in lower case. */
export function hasText(event: RunEvent, wanted: string): boolean {
  const { text, detail } = viewOf(event);
  return [event.message, text, detail ?? ''].some((each) => each.toLowerCase().includes(wanted));
}

interface SearchProps {
  readonly label: string;
  readonly wanted: string;
  readonly found: number;
  /** The index of the current hit. */
  readonly current: number;
  readonly onStep: (step: 1 | -1) => void;
  /** Searches earlier events; null if everything was read. */
  readonly onFurther: (() => void) | null;
}

/** The search in a transcript; the key / goes here. Enter goes to the next hit, Shift+Enter to the previous one. */
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
                ? countWords(found, 'hit', 'hits')
                : `${current + 1} of ${found}`}
          </output>
          <button type="button" class="quiet" aria-label="Previous hit" onClick={() => onStep(-1)}>
            ↑
          </button>
          <button type="button" class="quiet" aria-label="Next hit" onClick={() => onStep(1)}>
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
