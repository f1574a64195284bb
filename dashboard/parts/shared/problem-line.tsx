import type { VNode } from 'preact';
import type { Problem } from '../../data/connection/api.ts';
import { sentences } from '../../data/text/words.ts';
import { Text } from './text.tsx';

/** Why something could not be read, in the daemon's words. */
export function ProblemLine({ problem }: { readonly problem: Problem }): VNode {
  return (
    <p class="problem" role="alert">
      <Text text={sentences(problem.message, problem.nextStep)} />
    </p>
  );
}
