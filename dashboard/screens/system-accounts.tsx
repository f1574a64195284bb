import type { VNode } from 'preact';
import type { AccountRow } from '../../src/client/schema/now.ts';
import { accounts, hasSeveralProjects, type Placed } from '../data/connection/live.ts';
import { countWords } from '../data/text/words.ts';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { QuotaBar } from '../parts/shared/quota-bar.tsx';
import { Status, type Tone } from '../parts/shared/status.tsx';
import { Text } from '../parts/shared/text.tsx';
import { Countdown } from '../parts/shared/time.tsx';

const hourMinutes = 60;
const dayMinutes = 24 * hourMinutes;

/** The accounts that agents work with, and how much of each is left. These rows come with the stream. */
export function SystemAccounts(): VNode {
  if (accounts.value.length === 0) return <EmptyLine>No accounts yet.</EmptyLine>;
  return (
    <>
      {accounts.value.map((placed) => (
        <Account key={`${placed.project}/${placed.row.key}`} placed={placed} />
      ))}
    </>
  );
}

function Account({ placed: { project, row } }: { readonly placed: Placed<AccountRow> }): VNode {
  const { backend, name, windows, unavailable_because, unavailable_until, waits_for } = row;
  const tone: Tone = unavailable_because === 'auth' ? 'needs' : waits_for !== null ? 'waiting' : 'good';
  return (
    <section class={`band provider tone ${tone}`}>
      <h2>
        <Text text={name === backend ? backend : `${backend} ${name}`} />{' '}
        {hasSeveralProjects.value && (
          <small>
            <Text text={project} />
          </small>
        )}
      </h2>
      <p>
        <Status
          tone={tone}
          word={unavailable_because === 'auth' ? 'logged out' : waits_for !== null ? 'waiting' : 'ready'}
        />{' '}
        {waits_for !== null && <Text text={waits_for} />}
        {waits_for !== null && unavailable_until !== null && (
          <>
            {' '}
            <Countdown at={unavailable_until} />
          </>
        )}
      </p>
      {windows.length === 0 ? (
        <p class="quiet-text">The account reports no quota.</p>
      ) : (
        <ul class="quota-bars">
          {windows.map(({ name: window, used_percent, window_minutes, resets_at }) => (
            <QuotaBar
              key={window}
              name={window_minutes === null ? window : `${window}, ${windowWords(window_minutes)}`}
              used={used_percent}
              amount={`${Math.round(used_percent)} % used`}
              resetsAt={resets_at}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

/** A window has a round length: `5 hours`, `7 days`. */
function windowWords(minutes: number): string {
  if (minutes % dayMinutes === 0) return countWords(minutes / dayMinutes, 'day', 'days');
  if (minutes % hourMinutes === 0) return countWords(minutes / hourMinutes, 'hour', 'hours');
  return countWords(minutes, 'minute', 'minutes');
}
