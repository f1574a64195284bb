import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { StreamEvent } from '../../src/client/schema/event.ts';
import type { Task } from '../../src/client/schema/task.ts';
import { taskPriceText } from '../../src/client/task-price.ts';
import { mostIntakeChars } from '../../src/core/task/task.ts';
import { act, isSendingAt, type Spot } from '../data/connection/actions.ts';
import { useEachProject } from '../data/connection/each-project.ts';
import { hasSeveralProjects, vitalsOf } from '../data/connection/live.ts';
import { draftOf, keepDraft } from '../data/page/drafts.ts';
import { isSendKey, sendKeyWords } from '../data/page/send-key.ts';
import { ActionButton } from '../parts/shared/action-button.tsx';
import { ActionFeedback } from '../parts/shared/action-feedback.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Status, type Tone } from '../parts/shared/status.tsx';
import { Text } from '../parts/shared/text.tsx';
import { TimeAgo } from '../parts/shared/time.tsx';
import { TaskProposals } from '../parts/tasks/task-proposals.tsx';

/** The tasks of Baton: a text for a new intake, and what the agents of the latest tasks proposed. */
export function TasksScreen(): VNode {
  const { answers, reload } = useEachProject<{ readonly tasks: readonly Task[] }>('tasks', {
    changesWith: isAboutTasks,
    settleMs: 500,
  });
  return (
    <div class="screen tasks-screen">
      <h1 tabIndex={-1}>Tasks</h1>
      {answers.value.length === 0 && <EmptyLine isAsking>Loading the tasks.</EmptyLine>}
      {answers.value.map(({ project, value, problem }) => (
        <section key={project} aria-label={`Tasks of ${project}`}>
          {hasSeveralProjects.value && (
            <h2>
              <Text text={project} />
            </h2>
          )}
          {problem !== null && <ProblemLine problem={problem} />}
          <IntakeForm project={project} onBegun={reload} />
          {value?.tasks.length === 0 && <EmptyLine>No task yet.</EmptyLine>}
          {value?.tasks.map((task) => (
            <TaskCard key={task.id} project={project} task={task} onDecided={reload} />
          ))}
        </section>
      ))}
    </div>
  );
}

interface IntakeFormProps {
  readonly project: string;
  readonly onBegun: () => void;
}

/** A text that an agent turns into proposed issues. It is kept as a draft until it is sent. */
function IntakeForm({ project, onBegun }: IntakeFormProps): VNode {
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = `intake/${project}`;
  const spot: Spot = { project, name: 'intake', stamp: '' };
  const isSending = isSendingAt(spot);
  const send = async (): Promise<void> => {
    const text = field.current?.value.trim() ?? '';
    if (text === '') return field.current?.focus();
    if ((await act(spot, { kind: 'intake_begin', text })) === null) return;
    keepDraft(draft, null);
    if (field.current !== null) field.current.value = '';
    onBegun();
  };
  return (
    <form
      class="send-back"
      data-part="intake_begin"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={field}
        rows={5}
        maxLength={mostIntakeChars}
        aria-label="Text for an intake"
        placeholder="Notes, a list, a letter of a user. An agent proposes issues; nothing is filed before you accept it."
        defaultValue={draftOf(draft) ?? ''}
        readOnly={isSending}
        onInput={({ currentTarget: { value } }) => keepDraft(draft, value === '' ? null : value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
          if (isSendKey(event)) void send();
        }}
      />
      <small data-part="price">
        <Text text={taskPriceText('intake', vitalsOf(project))} />
      </small>
      <div class="actions">
        <button type="submit" class="main" aria-disabled={isSending}>
          Propose issues
        </button>
        <small class="send-key">{sendKeyWords} sends.</small>
      </div>
      <ActionFeedback spot={spot} />
    </form>
  );
}

const tones: Readonly<Record<Task['status'], Tone>> = {
  waiting: 'running',
  proposed: 'needs',
  accepted: 'good',
  refused: 'waiting',
  failed: 'broken',
};

function TaskCard({ project, task, onDecided }: { project: string; task: Task; onDecided: () => void }): VNode {
  const { id, title, status, open, error, created_at } = task;
  const isOpen = useSignal(status === 'proposed');
  const spot: Spot = { project, name: `task/${id}`, stamp: `${status} ${open}` };
  return (
    <article class="task" data-part="task" data-task={id}>
      <h3>
        <button type="button" class="plain" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
          <Text text={title} />
        </button>{' '}
        <Status tone={tones[status]} word={task.is_running ? 'running' : status} />{' '}
        <small>
          <TimeAgo at={created_at} />
        </small>
      </h3>
      {error !== null && (
        <p class="warning-line">
          <Text text={error.message} /> <code>{error.code}</code>
        </p>
      )}
      {status === 'failed' && (
        <ActionButton
          spot={spot}
          request={{ kind: 'task_retry', task: id }}
          label="Try again"
          name={`Try ${id} again`}
          hint="An agent reads the same text again"
          isMain
        />
      )}
      {isOpen.value && <TaskProposals project={project} id={id} spot={spot} stamp={spot.stamp} onDecided={onDecided} />}
      <ActionFeedback spot={spot} />
    </article>
  );
}

/** A task goes on when a run begins or ends, or a person does something. */
function isAboutTasks(event: StreamEvent): boolean {
  if (event.name !== 'patch') return event.name === 'issue_changed';
  const { set, drop } = event.data;
  return [set.waiting, drop.waiting, set.running, drop.running].some((rows) => rows !== undefined);
}
