import type { VNode } from 'preact';
import type { IssuePipeline } from '../../../src/client/schema/pipeline.ts';
import { Text } from '../shared/text.tsx';

type Step = IssuePipeline['steps'][number];

/** A mark and a word for each state, so that the colour is not alone. */
const marks: Readonly<Record<Step['status'], { readonly mark: string; readonly word: string }>> = {
  done: { mark: '✓', word: 'done' },
  current: { mark: '●', word: 'now' },
  skipped: { mark: '↷', word: 'skipped' },
  coming: { mark: '○', word: 'to come' },
};

/** The phases of an issue as steps, from the first to `ready`. */
export function PhaseSteps({ steps }: { readonly steps: readonly Step[] }): VNode {
  return (
    <ol class="phase-steps" aria-label="Phases">
      {steps.map(({ phase, status }) => (
        <li
          key={phase}
          class={status}
          data-part={`phase_${phase}`}
          data-status={status}
          aria-current={status === 'current' ? 'step' : undefined}
        >
          <span aria-hidden="true">{marks[status].mark}</span> <Text text={phase} />
          <small class={status === 'skipped' ? undefined : 'unseen'}> {marks[status].word}</small>
        </li>
      ))}
    </ol>
  );
}
