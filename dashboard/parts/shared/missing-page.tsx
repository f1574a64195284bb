import type { VNode } from 'preact';
import type { Problem } from '../../data/connection/api.ts';
import { linkTo } from '../../data/page/router.ts';
import { ProblemLine } from './problem-line.tsx';
import { Text } from './text.tsx';

interface MissingPageProps {
  /** What was looked for: an issue, a run. */
  readonly what: string;
  readonly name: string;
  readonly problem: Problem;
}

/** A page whose subject could not be read: what happened, and the ways from here. */
export function MissingPage({ what, name, problem }: MissingPageProps): VNode {
  const isMissing = problem.status === 404;
  return (
    <section data-part="missing">
      <h1 tabIndex={-1}>
        {isMissing ? `There is no ${what} ` : `The ${what} cannot be shown: `}
        <Text text={name} />
      </h1>
      {!isMissing && <ProblemLine problem={problem} />}
      {isMissing && <p class="empty">It may have been removed, or the address is incomplete.</p>}
      <p class="actions">
        <a class="button main" href={linkTo('/board')}>
          Go to the board
        </a>
        <a class="button" href={linkTo('/search', { q: name })}>
          Search for it
        </a>
        <a class="button" href={linkTo('/')}>
          Go to Now
        </a>
      </p>
    </section>
  );
}
