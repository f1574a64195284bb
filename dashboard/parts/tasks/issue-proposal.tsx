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

/** One proposed issue. Its title and its description may be changed before it is accepted. */
export function IssueProposal({ issue, ...context }: IssueProposalProps): VNode {
  const { number, title, description, acceptance_criteria: criteria, duplicate_of: duplicate } = issue;
  const { project } = context;
  const titleField = useRef<HTMLInputElement>(null);
  const textField = useRef<HTMLTextAreaElement>(null);
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
        </>
      }
      readFields={() => {
        const changed = titleField.current?.value.trim() ?? '';
        return changed === '' ? null : { number, title: changed, description: textField.current?.value ?? description };
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
      {duplicate !== null && (
        <p class="warning-line" data-part="duplicate">
          Looks like <IssueLink project={project} identifier={duplicate.identifier} isRow={false} />:{' '}
          <Text text={duplicate.title} />
        </p>
      )}
    </Proposal>
  );
}
