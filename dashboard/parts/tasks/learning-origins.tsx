import { Fragment, type VNode } from 'preact';
import type { Learning } from '../../../src/client/schema/learning.ts';
import { lessonWords } from '../../data/text/learning-words.ts';
import { IssueLink } from '../issue/issue-link.tsx';

interface LearningOriginsProps {
  readonly project: string;
  readonly origins: Learning['origins'];
}

/** The issues that taught a learning, and how. */
export function LearningOrigins({ project, origins }: LearningOriginsProps): VNode | null {
  const issues = [...new Set(origins.map(({ issue }) => issue))];
  if (issues.length === 0) return null;
  const kindsOf = (name: string): string[] => [
    ...new Set(origins.filter(({ issue }) => issue === name).map(({ kind }) => lessonWords[kind])),
  ];
  return (
    <span data-part="origins">
      From{' '}
      {issues.map((issue, index) => (
        <Fragment key={issue}>
          {index > 0 && ', '}
          <IssueLink project={project} identifier={issue} isRow={false} /> ({kindsOf(issue).join(', ')})
        </Fragment>
      ))}
    </span>
  );
}
