import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import { reviewHref, runHref } from '../../data/page/router.ts';
import { reasonWords } from '../../data/text/gate-words.ts';
import { plainWords, sentences } from '../../data/text/words.ts';
import { Text } from '../shared/text.tsx';
import { Countdown, TimeAgo } from '../shared/time.tsx';
import { endOf } from './issue-heading.tsx';

/** Why the issue is in its state and what happens next, in a sentence or two; each reason once. */
export function IssueWhy({ project, issue }: { readonly project: string; readonly issue: IssueDetail }): VNode | null {
  const { explanation, why_unknown, held, retry, activity } = issue;
  const end = endOf(issue);
  if (end !== null) return <Ended project={project} issue={issue} end={end} />;
  const isAtWork = activity === 'running' || activity === 'asking';
  const isInReview = issue.pull?.status === 'in_review' || issue.pull?.status === 'approved';
  // The question, the agent's part of the page and the review bar say it themselves.
  const isQuestion = held?.code === 'agent_input_required' && issue.questions.some(({ state }) => state === 'open');
  if (isAtWork || isQuestion || (isInReview && held === null)) return null;
  const said = explanation === null ? (why_unknown ?? 'The reason is unknown.') : explanation.next;
  return (
    <section
      class={`why-here said-why tone ${held === null ? 'waiting' : 'needs'}`}
      aria-label="Why it is in this state"
    >
      {held === null && (
        <p class="next">
          <Text text={sentences(reasonWords(said))} />
        </p>
      )}
      {held !== null && (
        <p data-part="held">
          <span class="next">
            Held <TimeAgo at={held.since} />.
          </span>{' '}
          <Text text={sentences(reasonWords(held.text))} lines />
          {held.run_id !== null && (
            <>
              {' '}
              <a href={runHref(project, held.run_id)}>Show the run</a>
            </>
          )}
        </p>
      )}
      {retry !== null && (
        <p data-part="retry">
          {retry.attempt === null ? 'Next check' : `Retry ${retry.attempt}`} <Countdown at={retry.due_at} />
          {retry.error !== null && (
            <>
              {'. The last run failed: '}
              <Text text={reasonWords(retry.error)} lines />
            </>
          )}
        </p>
      )}
    </section>
  );
}

interface EndedProps {
  readonly project: string;
  readonly issue: IssueDetail;
  readonly end: NonNullable<ReturnType<typeof endOf>>;
}

function Ended({ project, issue: { state, pull, updated_at }, end }: EndedProps): VNode {
  return (
    <section class={`why-here said-why tone ${end === 'success' ? 'good' : 'waiting'}`} aria-label="How it ended">
      <p data-part={end}>
        <span class="next">
          {end === 'success' ? '✓ ' : ''}
          <Text text={sentences(plainWords(state))} />
        </span>{' '}
        {pull?.status === 'merged' && (
          <>
            Its change <a href={reviewHref(project, String(pull.number))}>#{pull.number}</a> is merged.{' '}
          </>
        )}
        {updated_at !== null && (
          <small>
            <TimeAgo at={updated_at} />
          </small>
        )}
      </p>
    </section>
  );
}
