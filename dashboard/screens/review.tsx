import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { PullDetail } from '../../src/client/schema/pull.ts';
import { projectPath } from '../data/connection/api.ts';
import { projects } from '../data/connection/live.ts';
import { useResource } from '../data/connection/resource.ts';
import { lineComments } from '../data/diff/line-comments.ts';
import { createIssueNews } from '../data/issue/issue-news.ts';
import { DiffView } from '../parts/diff/diff-view.tsx';
import { ReviewChecks } from '../parts/review/review-checks.tsx';
import { ReviewDecision } from '../parts/review/review-decision.tsx';
import { ReviewHeading } from '../parts/review/review-heading.tsx';
import { ReviewRounds } from '../parts/review/review-rounds.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { Markdown } from '../parts/shared/markdown.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Text } from '../parts/shared/text.tsx';
import type { ScreenProps } from './index.ts';

/** A change under review: what was asked, what was done, and the decision about it. */
export function ReviewScreen({ params: { project = '', pull = '' } }: ScreenProps): VNode {
  return <ReviewOf key={`${project}/${pull}`} project={project} reference={pull} />;
}

function ReviewOf({ project, reference }: { readonly project: string; readonly reference: string }): VNode {
  const issue = useSignal<string | null>(null);
  const isNews = useMemo(
    () => (issue.value === null ? () => false : createIssueNews(project, issue.value, projects.peek()?.get(project))),
    [project, issue.value],
  );
  const { resource, reload } = useResource<PullDetail>(projectPath(project, 'pulls', reference), isNews);
  const { value, problem } = resource.value;
  if (value !== null && issue.peek() !== value.issue_id) issue.value = value.issue_id;
  return (
    <div class="screen review-screen">
      {value === null && (
        <h1 tabIndex={-1}>
          Pull request <Text text={reference} />
        </h1>
      )}
      {problem !== null && <ProblemLine problem={problem} />}
      {value === null && problem === null && <EmptyLine isAsking>Loading the change.</EmptyLine>}
      {value !== null && <Review project={project} pull={value} onDecided={reload} changesWith={isNews} />}
    </div>
  );
}

interface ReviewProps {
  readonly project: string;
  readonly pull: PullDetail;
  readonly onDecided: () => void;
  readonly changesWith: Parameters<typeof DiffView>[0]['changesWith'];
}

function Review({ project, pull, onDecided, changesWith }: ReviewProps): VNode {
  const { number, head, asked, body, last_message, rounds } = pull;
  // The text of the pull request is often the last message.
  const said = [...new Set([body.trim(), last_message?.trim() ?? ''])].filter((text) => text !== '');
  const since = useSignal<number | null>(null);
  const comments = useMemo(() => lineComments(`comments/${project}/${number}/${head}`), [project, number, head]);
  const isOpen = pull.status === 'in_review' || pull.status === 'approved';
  const base = projectPath(project, 'pulls', String(number), 'diff');
  return (
    <>
      <ReviewHeading project={project} pull={pull} />
      <ReviewDecision project={project} pull={pull} comments={comments} onDecided={onDecided} />
      <div class="review-words">
        <section aria-label="What was asked">
          <h2>Asked</h2>
          {asked.description === null || asked.description.trim() === '' ? (
            <EmptyLine>No description.</EmptyLine>
          ) : (
            <Markdown source={asked.description} />
          )}
        </section>
        <section aria-label="What the agent says">
          <h2>The agent says</h2>
          {said.length === 0 && <EmptyLine>Nothing.</EmptyLine>}
          {said.map((text) => (
            <Markdown key={text} source={text} />
          ))}
        </section>
        <ReviewChecks project={project} pull={pull} />
        <ReviewRounds
          project={project}
          rounds={rounds}
          since={since.value}
          onSince={(round) => {
            since.value = round;
          }}
        />
      </div>
      <section aria-label="The change">
        <h2>
          The change
          {since.value !== null && (
            <>
              {' '}
              since round {since.value}{' '}
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  since.value = null;
                }}
              >
                Show all of it
              </button>
            </>
          )}
        </h2>
        <DiffView
          key={since.value ?? 0}
          path={since.value === null ? base : `${base}?since_round=${since.value}`}
          changesWith={changesWith}
          folder={pull.workspace_path}
          // Comments name lines of the whole change.
          comments={isOpen && since.value === null ? comments : undefined}
        />
      </section>
    </>
  );
}
