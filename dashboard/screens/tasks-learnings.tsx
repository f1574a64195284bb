import type { VNode } from 'preact';
import type { LearningList } from '../../src/client/schema/learning.ts';
import { taskPriceText } from '../../src/client/task-price.ts';
import { isOffered, longestLearning } from '../../src/core/learning/learning.ts';
import type { Spot } from '../data/connection/actions.ts';
import { projectPath } from '../data/connection/api.ts';
import { useInterval } from '../data/connection/interval.ts';
import { vitalsOf } from '../data/connection/live.ts';
import { useResource } from '../data/connection/resource.ts';
import { linkTo } from '../data/page/router.ts';
import { countWords } from '../data/text/words.ts';
import { ActionButton } from '../parts/shared/action-button.tsx';
import { ActionFeedback } from '../parts/shared/action-feedback.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { LearningRow, learningSpot } from '../parts/tasks/learning-row.tsx';
import { TextForm } from '../parts/tasks/text-form.tsx';

/** No event says that a trial goes on, or that another person changed a learning. */
const againMs = 60_000;

/** What earlier work of a project taught, and the ways to teach more. */
export function TasksLearnings({ project }: { readonly project: string }): VNode {
  const { resource, reload } = useResource<LearningList>(projectPath(project, 'learnings'));
  useInterval(againMs, reload);
  const { value, problem } = resource.value;
  const all = value?.learnings ?? [];
  const used = all.filter(isOffered);
  const unused = all.filter((each) => !isOffered(each));
  const rowProps = { project, trialIssues: value?.trial_issues ?? 0, onDone: reload };
  return (
    <section aria-label={`Learnings of ${project}`}>
      {problem !== null && <ProblemLine problem={problem} />}
      <LookNow project={project} />
      <NewLearning project={project} known={value?.learnings.length} onDone={reload} />
      {value === null && problem === null && <EmptyLine isAsking>Loading the learnings.</EmptyLine>}
      {value !== null && all.length === 0 && <NoLearnings />}
      {all.length > 0 && used.length === 0 && <EmptyLine>Agents get no learnings now.</EmptyLine>}
      {used.map((learning) => (
        <LearningRow key={learning.id} learning={learning} {...rowProps} />
      ))}
      {/* Of those that have just been folded away. */}
      {unused.map((learning) => (
        <ActionFeedback key={learning.id} spot={learningSpot(project, learning)} />
      ))}
      {unused.length > 0 && (
        <details class="out-of-use" data-part="out_of_use">
          <summary>{countWords(unused.length, 'learning', 'learnings')} out of use</summary>
          {unused.map((learning) => (
            <LearningRow key={learning.id} learning={learning} {...rowProps} />
          ))}
        </details>
      )}
    </section>
  );
}

/** Lets an agent look for learnings now, with what that costs; or says why it cannot. */
function LookNow({ project }: { readonly project: string }): VNode {
  const vitals = vitalsOf(project);
  const budget = vitals?.today.roles?.find(({ role }) => role === 'learner');
  const spot: Spot = { project, name: 'learn_begin', stamp: String(budget?.runs) };
  if (budget === undefined)
    return (
      <p class="quiet-text" data-part="learner_off">
        No agent looks for learnings. To change that, set <code>learner.enabled</code> and a limit for the day in the
        workflow file.
      </p>
    );
  return (
    <div class="look-now">
      <div class="actions">
        {!budget.used_up && (
          <ActionButton
            spot={spot}
            request={{ kind: 'learn_begin' }}
            label="Look for learnings now"
            name={`Look for learnings now in ${project}`}
            hint="An agent reads failed runs, work that was sent back and notes of people, and proposes learnings"
          />
        )}
        <small class="note-line" data-part="learner_price">
          {taskPriceText('learn', vitals)}
          {budget.used_up && ' The learner can run again after 00:00 UTC.'} You decide about its proposals under{' '}
          <a href={linkTo('/tasks')}>Tasks</a>.
        </small>
      </div>
      <ActionFeedback spot={spot} />
    </div>
  );
}

interface NewLearningProps {
  readonly project: string;
  /** How many there are, once that is known: then the answer about the last one goes. */
  readonly known: number | undefined;
  readonly onDone: () => void;
}

function NewLearning({ project, known, onDone }: NewLearningProps): VNode {
  const spot: Spot = { project, name: 'learning_add', stamp: String(known) };
  return (
    <>
      <TextForm
        spot={spot}
        draft={`learning/${project}`}
        label="A new learning"
        placeholder="What should later agents know? One or two sentences, such as: Run npm run db:reset before the tests."
        rows={2}
        maxLength={longestLearning}
        send="Add this learning"
        request={(text) => ({ kind: 'learning_add', text })}
        onDone={onDone}
      />
      <ActionFeedback spot={spot} />
    </>
  );
}

function NoLearnings(): VNode {
  return (
    <EmptyLine>
      No learnings yet. A learning tells later agents, in a sentence or two, what earlier work taught. An agent proposes
      learnings from failed runs, work that was sent back and notes of people, and you decide about each. You can also
      write one yourself. Read more in <code>docs/learnings.md</code>.
    </EmptyLine>
  );
}
