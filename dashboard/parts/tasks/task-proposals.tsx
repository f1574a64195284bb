import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { TaskDetail } from '../../../src/client/schema/task.ts';
import { act, isSendingAt, type Spot } from '../../data/connection/actions.ts';
import { projectPath } from '../../data/connection/api.ts';
import { useResource } from '../../data/connection/resource.ts';
import { ActionButton } from '../shared/action-button.tsx';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Markdown } from '../shared/markdown.tsx';
import { ProblemLine } from '../shared/problem-line.tsx';
import { Text } from '../shared/text.tsx';
import { IssueProposal } from './issue-proposal.tsx';
import { LearningProposal } from './learning-proposal.tsx';
import type { ProposalContext } from './proposal.tsx';

interface TaskProposalsProps {
  readonly project: string;
  readonly id: string;
  readonly spot: Spot;
  /** Changes when the task does: then it is read again. */
  readonly stamp: string;
  readonly onDecided: () => void;
}

/** What the agent of a task proposed, and the decisions of a person. */
export function TaskProposals({ project, id, spot, stamp, onDecided }: TaskProposalsProps): VNode {
  const { resource, reload } = useResource<TaskDetail>(projectPath(project, 'tasks', id));
  const edits = useRef<ProposalContext['edits']>(new Map());
  const { value: task, problem } = resource.value;
  // The proposals stay while they are read again, with what a person has typed into them.
  const readAt = useRef(stamp);
  useEffect(() => {
    if (readAt.current !== stamp) reload();
    readAt.current = stamp;
  }, [stamp]);
  if (task === null && problem !== null) return <ProblemLine problem={problem} />;
  if (task === null) return <EmptyLine isAsking>Loading the proposals.</EmptyLine>;
  const decided = (): void => {
    reload();
    onDecided();
  };
  const context: ProposalContext = { project, task, spot, edits: edits.current, decided };
  const plain = [...task.issues.filter(({ duplicate_of }) => duplicate_of === null), ...task.learnings].filter(
    ({ decision }) => decision === 'open',
  );
  const isEmpty = task.issues.length + task.learnings.length === 0;
  const refusal = task.status === 'waiting' ? 'Cancel' : task.setup === null ? 'Refuse the rest' : 'Refuse';
  const acceptAll = (): void => {
    const edited = [...edits.current.values()].flatMap((read) => read() ?? []);
    const asked = { task: id, ...(edited.length === 0 ? {} : { edits: edited }) };
    void act(spot, { kind: 'task_accept', ...asked }).then(decided);
  };
  return (
    <div class="proposals" data-part="proposals">
      {problem !== null && <ProblemLine problem={problem} />}
      {task.setup !== null && <ProvenCommands id={id} setup={task.setup} isOpen={task.open > 0} />}
      {isEmpty && task.setup === null && task.status === 'proposed' && (
        <EmptyLine>The agent proposes nothing.</EmptyLine>
      )}
      {task.issues.map((issue) => (
        <IssueProposal key={issue.number} {...context} issue={issue} />
      ))}
      {task.learnings.map((learning) => (
        <LearningProposal key={learning.number} {...context} learning={learning} />
      ))}
      <div class="actions">
        {plain.length > 1 && task.status === 'proposed' && (
          <button
            type="button"
            class="main"
            data-part="accept_all"
            aria-disabled={isSendingAt(spot)}
            onClick={acceptAll}
          >
            Accept all {plain.length}
          </button>
        )}
        {(task.open > 0 || task.status === 'waiting' || isEmpty) &&
          task.status !== 'refused' &&
          task.status !== 'accepted' && (
            <ActionButton
              spot={spot}
              request={{ kind: 'task_refuse', task: id }}
              label={refusal}
              name={`${refusal}: ${id}`}
              confirm={refusalMeans(task)}
              onDone={decided}
            />
          )}
      </div>
    </div>
  );
}

/** What a refusal means. */
function refusalMeans({ kind }: TaskDetail): string {
  if (kind === 'setup') return 'The workflow file stays as it is.';
  return kind === 'learn' ? 'No agent gets the rest.' : 'Nothing more is filed for it.';
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
