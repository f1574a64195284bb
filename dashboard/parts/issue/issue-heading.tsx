import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import { plainWords } from '../../data/text/words.ts';
import { Status, type Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';

interface Word {
  readonly word: string;
  readonly tone: Tone;
}

const activities: Readonly<Record<NonNullable<IssueDetail['activity']>, Word>> = {
  running: { word: 'running', tone: 'running' },
  asking: { word: 'asks you', tone: 'needs' },
  held: { word: 'held', tone: 'needs' },
  retrying: { word: 'waiting for retry', tone: 'waiting' },
};

/** Names of trackers for issues that ended without a result. */
const givenUp = /cancel|duplicate|won.?t|not planned|invalid|reject|abandon/iu;

/** How an issue that is over ended; null for one that is not. */
export function endOf({ state, explanation, pull }: IssueDetail): 'success' | 'given_up' | null {
  const isOver = explanation?.gates.some(({ gate, passed }) => gate === 'not_terminal' && !passed) ?? false;
  if (!isOver) return null;
  return pull?.status !== 'merged' && givenUp.test(state) ? 'given_up' : 'success';
}

/** The issue's state and activity, in a word or two. */
export function IssueStatus({ issue }: { readonly issue: IssueDetail }): VNode {
  const { state, activity } = issue;
  const end = endOf(issue);
  if (end !== null)
    return (
      <Status
        tone={end === 'success' ? 'good' : 'waiting'}
        word={`${end === 'success' ? '✓ ' : ''}${plainWords(state)}`}
      />
    );
  if (issue.pull?.status === 'in_review') return <Status tone="needs" word={plainWords(state)} />;
  return (
    <>
      <strong>
        <Text text={plainWords(state)} />
      </strong>
      {activity !== null && (
        <>
          {' · '}
          <Status {...activities[activity]} />
        </>
      )}
    </>
  );
}

/** The issue's name and state. */
export function IssueHeading({ issue }: { readonly issue: IssueDetail }): VNode {
  return (
    <header class="issue-heading">
      <p class="over-title">
        <span class="identifier">
          <Text text={issue.identifier} />
        </span>
        <span class="now">
          <IssueStatus issue={issue} />
        </span>
      </p>
      <h1 tabIndex={-1}>
        <span class="unseen">
          <Text text={issue.identifier} />{' '}
        </span>
        <Text text={issue.title} />
      </h1>
    </header>
  );
}
