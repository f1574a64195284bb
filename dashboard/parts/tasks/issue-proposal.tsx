import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { TaskDetail } from '../../../src/client/schema/task.ts';
import { IssueLink } from '../issue/issue-link.tsx';
import { Markdown } from '../shared/markdown.tsx';
import { Text } from '../shared/text.tsx';
import { Proposal, type ProposalContext } from './proposal.tsx';

interface IssueProposalProps extends ProposalContext {
  readonly issue: TaskDetail['issues'][number];
}

/** One proposed issue. Its title, description and labels may be changed before it is accepted. */
export function IssueProposal({ issue, ...context }: IssueProposalProps): VNode {
  const {
    number,
    title,
    description,
    labels,
    priority,
    acceptance_criteria: criteria,
    duplicate_of: duplicate,
  } = issue;
  const { project } = context;
  const titleField = useRef<HTMLInputElement>(null);
  const textField = useRef<HTMLTextAreaElement>(null);
  const labelsField = useRef<HTMLInputElement>(null);
  return (
    <Proposal
      {...context}
      proposed={issue}
      title={<Text text={title} />}
      became={issue.issue !== null && <IssueLink project={project} identifier={issue.issue} isRow={false} />}
      text={description !== '' && <Markdown source={description} />}
      fields={
        <>
          <input ref={titleField} aria-label={`Title of proposal ${number}`} defaultValue={title} maxLength={500} />
          <textarea
            ref={textField}
            aria-label={`Description of proposal ${number}`}
            rows={5}
            defaultValue={description}
          />
          <input ref={labelsField} aria-label={`Labels of proposal ${number}`} defaultValue={labels.join(', ')} />
        </>
      }
      readFields={() => {
        const changed = titleField.current?.value.trim() ?? '';
        if (changed === '') return null;
        const wanted = labelsField.current?.value.split(',').map((each) => each.trim());
        return {
          ...{ number, title: changed, description: textField.current?.value ?? description },
          labels: wanted?.filter((each) => each !== '') ?? labels,
        };
      }}
    >
      {criteria.length > 0 && (
        <ul>
          {criteria.map((each) => (
            <li key={each}>
              <Text text={each} />
            </li>
          ))}
        </ul>
      )}
      {(labels.length > 0 || priority !== null) && (
        <p class="labels" data-part="filed_with">
          {priority !== null && <>Priority {priority} </>}
          {labels.map((label) => (
            <span key={label} class="label">
              <Text text={label} />
            </span>
          ))}
        </p>
      )}
      {duplicate !== null && (
        <p class="warning-line" data-part="duplicate">
          Looks like <IssueLink project={project} identifier={duplicate.identifier} isRow={false} />:{' '}
          <Text text={duplicate.title} />
        </p>
      )}
    </Proposal>
  );
}
