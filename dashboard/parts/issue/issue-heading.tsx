import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { issueHref, reviewHref } from '../../data/page/router.ts';
import { plainWords } from '../../data/text/words.ts';
import { Cost, Tokens } from '../costs/amount.tsx';
import { Fact } from '../shared/fact.tsx';
import { Status, type Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { TimeAgo } from '../shared/time.tsx';

const activities: Readonly<
  Record<NonNullable<IssueDetail['activity']>, { readonly word: string; readonly tone: Tone }>
> = {
  running: { word: 'running', tone: 'running' },
  asking: { word: 'asks you', tone: 'needs' },
  held: { word: 'held', tone: 'needs' },
  retrying: { word: 'waiting for retry', tone: 'waiting' },
};

/** The issue's name, state and facts. */
export function IssueHeading({ project, issue }: { readonly project: string; readonly issue: IssueDetail }): VNode {
  const { identifier, title, state, activity, url, priority, labels, blockers, branch, pull, usage } = issue;
  const name = harmlessLine(identifier);
  const hasLink = url !== null && /^https?:/u.test(url);
  return (
    <header class="issue-heading">
      <h1 tabIndex={-1}>
        <span class="identifier">
          <Text text={identifier} />
        </span>{' '}
        <Text text={title} />
      </h1>
      <dl class="line-of-facts">
        <Fact name="state">
          <strong>
            <Text text={plainWords(state)} />
          </strong>
          {activity !== null && (
            <>
              {' · '}
              <Status {...activities[activity]} />
            </>
          )}
        </Fact>
        {priority !== null && <Fact name="priority">P{priority}</Fact>}
        {labels.length > 0 && (
          <Fact name="labels">
            <Text text={labels.join(', ')} />
          </Fact>
        )}
        {blockers.length > 0 && (
          <Fact name="blocked by">
            {blockers.map((blocker, index) => (
              <span key={blocker.id ?? blocker.identifier ?? index}>
                {index > 0 && ', '}
                {blocker.identifier === null ? (
                  'another issue'
                ) : (
                  <a href={issueHref(project, blocker.identifier)}>
                    <Text text={blocker.identifier} />
                  </a>
                )}
                {blocker.state !== null && (
                  <small>
                    {' '}
                    <Text text={plainWords(blocker.state)} />
                  </small>
                )}
              </span>
            ))}
          </Fact>
        )}
        {branch !== null && (
          <Fact name="branch">
            <code>
              <Text text={branch} />
            </code>
          </Fact>
        )}
        {pull !== null && (
          <Fact name="change">
            <a href={reviewHref(project, String(pull.number))}>#{pull.number}</a> {plainWords(pull.status)}
          </Fact>
        )}
        <Fact name="runs">{Math.max(usage.runs, issue.runs.length)}</Fact>
        <Fact name="tokens">
          <Tokens count={usage.total_tokens} />
        </Fact>
        <Fact name="cost">
          <Cost of={usage} />
        </Fact>
        {issue.updated_at !== null && (
          <Fact name="changed">
            <TimeAgo at={issue.updated_at} />
          </Fact>
        )}
        {hasLink && (
          <Fact name="tracker">
            <a href={url} target="_blank" rel="noopener noreferrer" aria-label={`Open ${name} in the issue tracker`}>
              Open
            </a>
          </Fact>
        )}
      </dl>
    </header>
  );
}
