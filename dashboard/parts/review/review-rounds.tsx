import type { VNode } from 'preact';
import type { PullDetail } from '../../../src/client/schema/pull.ts';
import { runHref } from '../../data/page/router.ts';
import { authorWords } from '../issue/issue-history.tsx';
import { MessageItem } from '../issue/issue-messages.tsx';
import { Text } from '../shared/text.tsx';
import { TimeAgo } from '../shared/time.tsx';
import { hint } from '../shared/tooltip.tsx';

interface ReviewRoundsProps {
  readonly project: string;
  readonly rounds: PullDetail['rounds'];
  /** The round since which the change is shown; null: all of it. */
  readonly since: number | null;
  readonly onSince: (round: number | null) => void;
}

type Round = PullDetail['rounds'][number];

/** The rounds of a change, the newest first: its commit, who sent it back with which words, and what changed since. */
export function ReviewRounds({ project, rounds, since, onSince }: ReviewRoundsProps): VNode {
  return (
    <section aria-label="Rounds">
      <h2>Rounds</h2>
      <ol class="review-rounds" reversed>
        {rounds.toReversed().map((round, index) => (
          <li key={round.round}>
            <RoundHead project={project} round={round} />
            {index > 0 && (
              <button
                type="button"
                class="quiet"
                aria-pressed={since === round.round}
                {...hint('Show above only what changed after this round')}
                onClick={() => onSince(since === round.round ? null : round.round)}
              >
                {since === round.round ? 'Show the whole change' : 'Show what changed since'}
              </button>
            )}
            {round.verdicts.map((verdict) => (
              <VerdictItem key={verdict.run_id} project={project} verdict={verdict} />
            ))}
            {round.said.length > 0 && (
              <ul class="past-list">
                {round.said.map((message) => (
                  <MessageItem key={message.id} project={project} message={message} />
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface VerdictItemProps {
  readonly project: string;
  readonly verdict: Round['verdicts'][number];
}

/** What a judge said about the commit of a round. */
function VerdictItem({ project, verdict }: VerdictItemProps): VNode {
  const { agent, findings, run_id, summary } = verdict;
  return (
    <div class="verdict">
      <p>
        <a href={runHref(project, run_id)}>Judge {agent}</a>: <strong>{verdict.verdict}</strong>.{' '}
        <Text text={summary} />
      </p>
      {findings.length > 0 && (
        <ul>
          {findings.map(({ file, line, severity, problem, wanted }) => (
            <li key={`${file}:${line}:${problem}`}>
              {file !== null && <code>{line === null ? file : `${file}:${line}`}</code>} ({severity}){' '}
              <Text text={`${problem} ${wanted}`} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const sentBackWords: Readonly<Record<NonNullable<Round['sent_back']>['kind'], string>> = {
  person: '',
  check: ' because of a red check',
  conflict: ' because of a conflict',
  review: ' because of a review at its host',
  judge: ' because its judge rejected it',
  moved: ' by moving its issue',
};

function RoundHead({ project, round }: { readonly project: string; readonly round: Round }): VNode {
  const { round: number, head, at, run_id, sent_back, checks } = round;
  return (
    <p>
      <strong>Round {number}</strong> <code>{head.slice(0, 10)}</code>, <TimeAgo at={at} />
      {run_id === null ? (
        ' by a person'
      ) : (
        <>
          {' '}
          by <a href={runHref(project, run_id)}>its run</a>
        </>
      )}
      {checks.map(({ name, result }) => (
        <span key={name}>
          {', '}
          <Text text={name} /> {result ?? 'running'}
        </span>
      ))}
      {sent_back !== null && (
        <>
          ; sent back <TimeAgo at={sent_back.at} /> by {authorWords(sent_back.by)}
          {sentBackWords[sent_back.kind]}
        </>
      )}
    </p>
  );
}
