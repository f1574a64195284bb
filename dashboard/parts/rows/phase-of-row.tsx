import type { VNode } from 'preact';
import type { PhaseOfRow as Facts } from '../../../src/client/schema/pipeline.ts';
import { phaseWords, waitWords } from '../../../src/core/pipeline/phase-standing.ts';
import { Text } from '../shared/text.tsx';

/** Where the issue of a row stands in the pipeline; nothing where it is not in it. */
export function PhaseOfRow({ phase }: { readonly phase: Facts | undefined }): VNode | null {
  if (phase === undefined) return null;
  return (
    <p class="quiet-text" data-part="phase">
      <Text text={`${phaseWords(phase)}: ${waitWords[phase.waits_for]}`} />
    </p>
  );
}
