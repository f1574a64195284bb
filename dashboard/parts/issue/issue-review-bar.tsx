import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { PullDetail } from '../../../src/client/schema/pull.ts';
import { projectPath } from '../../data/connection/api.ts';
import { projects } from '../../data/connection/live.ts';
import { useResource } from '../../data/connection/resource.ts';
import { createIssueNews } from '../../data/issue/issue-news.ts';
import { reviewHref } from '../../data/page/router.ts';
import { Status, type Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { TimeAgo } from '../shared/time.tsx';

interface ReviewBarProps {
  readonly project: string;
  readonly issue: IssueDetail;
}

const checkWords: Readonly<Record<PullDetail['checks'], { readonly word: string; readonly tone: Tone } | null>> = {
  none: null,
  waiting: { word: 'checks are running', tone: 'running' },
  green: { word: '✓ checks passed', tone: 'good' },
  red: { word: '✕ checks failed', tone: 'broken' },
  incomplete: { word: 'checks are incomplete', tone: 'waiting' },
};

/** The change that waits for a decision, with the facts that the decision needs first, and the way to it. */
export function ReviewBar({ project, issue }: ReviewBarProps): VNode | null {
  const isOpen = issue.pull?.status === 'in_review' || issue.pull?.status === 'approved';
  return isOpen && issue.pull !== null ? <OpenReview project={project} issue={issue} pull={issue.pull} /> : null;
}

function OpenReview({
  project,
  issue,
  pull: { number, status },
}: ReviewBarProps & { readonly pull: NonNullable<IssueDetail['pull']> }): VNode {
  const isNews = useMemo(() => createIssueNews(project, issue.id, projects.peek()?.get(project)), [project, issue.id]);
  const { resource } = useResource<PullDetail>(projectPath(project, 'pulls', String(number)), isNews);
  const detail = resource.value.value;
  const checks = detail === null ? null : checkWords[detail.checks];
  const isConflict = detail?.merge?.code === 'conflict';
  return (
    <section class="review-bar tone needs" aria-label="Review" data-home>
      <p>
        <strong>{status === 'approved' ? `Change #${number} is approved.` : `Change #${number} waits for you.`}</strong>{' '}
        {detail !== null && (
          <span class="quiet-text">
            <code>
              <Text text={detail.branch} />
            </code>{' '}
            into{' '}
            <code>
              <Text text={detail.base} />
            </code>
            , <TimeAgo at={detail.standing_since} />
          </span>
        )}
      </p>
      <p class="review-facts">
        {checks !== null && <Status {...checks} />}
        {isConflict && <Status tone="broken" word="✕ conflicts with its base" />}
      </p>
      <a class="button main" data-part="review_change" href={reviewHref(project, String(number))}>
        Review the change
      </a>
    </section>
  );
}
