import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import { issueHref } from '../../data/page/router.ts';
import { plainWords } from '../../data/text/words.ts';
import { Text } from '../shared/text.tsx';

/** The parts that a planner split the issue into, or the issue that it is a part of. */
export function IssuePlan({ project, issue }: { readonly project: string; readonly issue: IssueDetail }): VNode | null {
  const { plan, part_of: parent } = issue;
  if (plan === null && parent === null) return null;
  return (
    <section class="pipeline tone" aria-label="Plan" data-part="plan">
      <h2>Plan</h2>
      {parent !== null && (
        <p>
          A part of <PartLink project={project} part={parent} />.
        </p>
      )}
      {plan !== null && (
        <>
          <p>
            <Text text={plan.summary} />
          </p>
          {plan.parts.length === 0 && <p>The planner found it small enough for one change.</p>}
          {!plan.is_made && plan.parts.length > 0 && <p>Its parts are being written to the tracker.</p>}
          {plan.parts.length > 0 && (
            <ol>
              {plan.parts.map((part) => (
                <li key={part.issue_id}>
                  <PartLink project={project} part={part} /> <Text text={part.title} />
                  {part.state !== null && <small> {plainWords(part.state)}</small>}
                </li>
              ))}
            </ol>
          )}
        </>
      )}
    </section>
  );
}

type Part = NonNullable<IssueDetail['part_of']>;

function PartLink({ project, part }: { readonly project: string; readonly part: Part }): VNode {
  const name = part.issue_identifier ?? part.issue_id;
  return (
    <a href={issueHref(project, name)}>
      <Text text={name} />
    </a>
  );
}
