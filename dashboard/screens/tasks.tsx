import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { StreamEvent } from '../../src/client/schema/event.ts';
import type { Task } from '../../src/client/schema/task.ts';
import { taskPriceText } from '../../src/client/task-price.ts';
import { mostIntakeChars } from '../../src/core/task/task.ts';
import type { Spot } from '../data/connection/actions.ts';
import { useEachProject } from '../data/connection/each-project.ts';
import { hasSeveralProjects, vitalsOf } from '../data/connection/live.ts';
import { ActionButton } from '../parts/shared/action-button.tsx';
import { ActionFeedback } from '../parts/shared/action-feedback.tsx';
import { EachProject } from '../parts/shared/each-project.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Status, type Tone } from '../parts/shared/status.tsx';
import { Tabs } from '../parts/shared/tabs.tsx';
import { Text } from '../parts/shared/text.tsx';
import { TimeAgo } from '../parts/shared/time.tsx';
import { TaskProposals } from '../parts/tasks/task-proposals.tsx';
import { TextForm } from '../parts/tasks/text-form.tsx';
import { TasksLearnings } from './tasks-learnings.tsx';

/** What agents propose outside the work on issues, and what earlier work taught. */
export function TasksScreen(): VNode {
  return (
    <div class="screen tasks-screen">
      <h1 tabIndex={-1}>Tasks</h1>
      <Tabs
        label="Tasks and learnings"
        tabs={[
          { name: 'tasks', label: 'Tasks', content: () => <TaskList /> },
          {
            name: 'learnings',
            label: 'Learnings',
            content: () => <EachProject render={(name) => <TasksLearnings project={name} />} />,
          },
        ]}
      />
    </div>
  );
}

/** A text for a new intake, and what the agents of the latest tasks proposed. */
function TaskList(): VNode {
  const { answers, reload } = useEachProject<{ readonly tasks: readonly Task[] }>('tasks', {
    changesWith: isAboutTasks,
    settleMs: 500,
  });
  return (
    <>
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
    </>
  );
}

interface IntakeFormProps {
  readonly project: string;
  readonly onBegun: () => void;
}

/** A text that an agent turns into proposed issues. */
function IntakeForm({ project, onBegun }: IntakeFormProps): VNode {
  const spot: Spot = { project, name: 'intake', stamp: '' };
  return (
    <>
      <TextForm
        spot={spot}
        draft={`intake/${project}`}
        label="Text for an intake"
        placeholder="Notes, a list, a letter of a user. An agent proposes issues; nothing is filed before you accept it."
        rows={5}
        maxLength={mostIntakeChars}
        file="File with the text"
        send="Propose issues"
        note={taskPriceText('intake', vitalsOf(project))}
        request={(text) => ({ kind: 'intake_begin', text })}
        onDone={onBegun}
      />
      <ActionFeedback spot={spot} />
    </>
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
  const { id, title, status, open, error, created_at, waits_for } = task;
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
      {waits_for !== null && (
        <p data-part="waits_for">
          <Text text={waits_for.text} /> <code>{waits_for.code}</code>
        </p>
      )}
      {status === 'failed' && (
        <ActionButton
          spot={spot}
          request={{ kind: 'task_retry', task: id }}
          label="Try again"
          name={`Try again: ${id}`}
          hint="An agent reads the same text again"
          onDone={onDecided}
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
  const { waiting, running, needs_you: proposed } = set;
  return [waiting, drop.waiting, running, drop.running, proposed, drop.needs_you].some((rows) => rows !== undefined);
}
