import type { VNode } from 'preact';
import type { PhaseOfRow as Facts } from '../../../src/client/schema/pipeline.ts';
import { readyPhase } from '../../../src/core/pipeline/phase.ts';
import { phaseWords, waitWords } from '../../../src/core/pipeline/phase-standing.ts';
import { Text } from '../shared/text.tsx';

interface PhaseOfRowProps {
  readonly phase: Facts | undefined;
  readonly isRunning?: boolean;
}

/** Where the issue of a row stands in the pipeline. Nothing where it is not in it or has left it: the row says the rest. */
export function PhaseOfRow({ phase, isRunning }: PhaseOfRowProps): VNode | null {
  if (phase === undefined || phase.name === readyPhase) return null;
  return (
    <p class="quiet-text" data-part="phase">
      <Text text={isRunning ? phaseWords(phase) : `${phaseWords(phase)}: ${waitWords[phase.waits_for]}`} />
    </p>
  );
}
