import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { TaskDetail } from '../../../src/client/schema/task.ts';
import { act, isSendingAt, type Spot } from '../../data/connection/actions.ts';
import { projectPath } from '../../data/connection/api.ts';
import { useResource } from '../../data/connection/resource.ts';
import { IssueLink } from '../issue/issue-link.tsx';
import { ActionButton } from '../shared/action-button.tsx';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Markdown } from '../shared/markdown.tsx';
import { ProblemLine } from '../shared/problem-line.tsx';
import { Status } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';

interface TaskProposalsProps {
  readonly project: string;
  readonly id: string;
  readonly spot: Spot;
  /** Changes when the task does: then it is read again. */
  readonly stamp: string;
  readonly onDecided: () => void;
}

type Proposed = TaskDetail['issues'][number];

/** What the agent of a task proposed, and the decisions of a person. */
export function TaskProposals({ project, id, spot, stamp, onDecided }: TaskProposalsProps): VNode {
  const path = `${projectPath(project)}/tasks/${encodeURIComponent(id)}?at=${encodeURIComponent(stamp)}`;
  const { resource, reload } = useResource<TaskDetail>(path);
  const { value: task, problem } = resource.value;
  if (problem !== null) return <ProblemLine problem={problem} />;
  if (task === null) return <EmptyLine isAsking>Loading the proposals.</EmptyLine>;
  const decided = (): void => {
    reload();
    onDecided();
  };
  const plain = task.issues.filter(({ decision, duplicate_of }) => decision === 'open' && duplicate_of === null);
  return (
    <div class="proposals" data-part="proposals">
      {task.setup !== null && <ProvenCommands id={id} setup={task.setup} isOpen={task.open > 0} />}
      {task.issues.length === 0 && task.setup === null && task.status === 'proposed' && (
        <EmptyLine>The agent proposes nothing.</EmptyLine>
      )}
      {task.issues.map((issue) => (
        <Proposal key={issue.number} {...{ project, task, issue, spot, decided }} />
      ))}
      <div class="actions">
        {plain.length > 1 && (
          <button
            type="button"
            class="main"
            data-part="accept_all"
            aria-disabled={isSendingAt(spot)}
            onClick={() => void act(spot, { kind: 'task_accept', task: id }).then(decided)}
          >
            Accept all {plain.length}
          </button>
        )}
        {(task.open > 0 || task.status === 'waiting' || task.issues.length === 0) &&
          task.status !== 'refused' &&
          task.status !== 'accepted' && (
            <ActionButton
              spot={spot}
              request={{ kind: 'task_refuse', task: id }}
              label={task.status === 'waiting' ? 'Cancel' : task.setup === null ? 'Refuse the rest' : 'Refuse'}
              name={`Refuse ${id}`}
              confirm={task.setup === null ? 'Nothing more is filed for it.' : 'The workflow file stays as it is.'}
            />
          )}
      </div>
    </div>
  );
}

interface ProvenCommandsProps {
  readonly id: string;
  readonly setup: NonNullable<TaskDetail['setup']>;
  readonly isOpen: boolean;
}

/** What a setup would write into the workflow file. A person writes it, with a command. */
function ProvenCommands({ id, setup: { setup, checks, notes }, isOpen }: ProvenCommandsProps): VNode {
  return (
    <section class="proposal" data-part="setup" aria-label="Proposed commands">
      {[...(setup === null ? [] : [setup]), ...checks].map(({ name, run, exit_code, duration_ms, output }) => (
        <div key={name}>
          <h4>
            <Text text={name} />: <code>{run}</code>
          </h4>
          <p>
            Exit code {exit_code ?? 'none'} after {Math.ceil(duration_ms / 1000)} s
          </p>
          <pre>{output}</pre>
        </div>
      ))}
      {notes !== '' && <Markdown source={notes} />}
      {isOpen && (
        <p>
          To write it into the workflow file: <code>baton setup accept {id}</code>
        </p>
      )}
    </section>
  );
}

interface ProposalProps {
  readonly project: string;
  readonly task: TaskDetail;
  readonly issue: Proposed;
  readonly spot: Spot;
  readonly decided: () => void;
}

/** One proposed issue. Its title and its description may be changed before it is accepted. */
function Proposal({ project, task, issue, spot, decided }: ProposalProps): VNode {
  const { number, title, description, acceptance_criteria: criteria, duplicate_of: duplicate, decision } = issue;
  const isEdited = useSignal(false);
  const titleField = useRef<HTMLInputElement>(null);
  const textField = useRef<HTMLTextAreaElement>(null);
  const isSending = isSendingAt(spot);
  const accept = (): void => {
    const changed = {
      number,
      ...(titleField.current === null ? {} : { title: titleField.current.value.trim() }),
      ...(textField.current === null ? {} : { description: textField.current.value }),
    };
    const edits = isEdited.peek() && changed.title !== '' ? { edits: [changed] } : {};
    void act(spot, { kind: 'task_accept', task: task.id, numbers: [number], ...edits }).then(decided);
  };
  const refuse = (): void => void act(spot, { kind: 'task_refuse', task: task.id, numbers: [number] }).then(decided);
  return (
    <section class="proposal" data-part="proposal" data-number={number} aria-label={`Proposal ${number}`}>
      {isEdited.value ? (
        <div class="edit-proposal">
          <input ref={titleField} aria-label={`Title of proposal ${number}`} defaultValue={title} maxLength={500} />
          <textarea
            ref={textField}
            aria-label={`Description of proposal ${number}`}
            rows={5}
            defaultValue={description}
          />
        </div>
      ) : (
        <>
          <h4>
            {number}. <Text text={title} />{' '}
            {decision === 'accepted' && issue.issue !== null && (
              <IssueLink project={project} identifier={issue.issue} />
            )}
            {decision === 'refused' && <Status tone="waiting" word="refused" />}
          </h4>
          {description !== '' && <Markdown source={description} />}
        </>
      )}
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
          Looks like <IssueLink project={project} identifier={duplicate.identifier} />: <Text text={duplicate.title} />
        </p>
      )}
      {decision === 'open' && task.status === 'proposed' && (
        <div class="actions">
          <button
            type="button"
            data-part="accept"
            aria-label={`Accept proposal ${number}`}
            aria-disabled={isSending}
            onClick={accept}
          >
            Accept
          </button>
          <button
            type="button"
            data-part="edit"
            aria-label={`Edit proposal ${number}`}
            aria-pressed={isEdited.value}
            onClick={() => (isEdited.value = !isEdited.value)}
          >
            Edit
          </button>
          <button
            type="button"
            data-part="refuse"
            aria-label={`Refuse proposal ${number}`}
            aria-disabled={isSending}
            onClick={refuse}
          >
            Refuse
          </button>
        </div>
      )}
    </section>
  );
}
