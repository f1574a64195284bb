import type { VNode } from 'preact';
import { connectAgain, link } from '../../data/connection/stream.ts';
import { clockWords } from '../../data/text/words.ts';
import { Text } from '../shared/text.tsx';
import { Countdown, TimeAgo } from '../shared/time.tsx';

/** While the daemon is away: since when, and that it is tried again. What is shown stays. */
export function AwayBar(): VNode | null {
  const state = link.value;
  if (state.is !== 'away') return null;
  return (
    <div class="away" role="status">
      <strong>
        The daemon is away since {clockWords(state.since, true)} (<TimeAgo at={new Date(state.since).toISOString()} />
        ).
      </strong>
      <span>
        {state.why !== null && <Text text={`${state.why} `} />}
        What you see is from then. Next try <Countdown at={new Date(state.again).toISOString()} />.
      </span>
      <button type="button" onClick={connectAgain}>
        Try now
      </button>
    </div>
  );
}
