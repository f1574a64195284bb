import type { CommandAnswer } from '../../core/command/command-answers.ts';
import { refused } from '../../core/command/command-answers.ts';
import { type LearnFacts, whyNoLearning } from '../../core/learning/learn-due.ts';
import { afterTrial, trialResult } from '../../core/learning/learning-trial.ts';
import { lessonsText, mostLessons } from '../../core/learning/lesson.ts';
import { isUndecided } from '../../core/task/proposal.ts';
import { nextTaskId, type Task } from '../../core/task/task.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { FoundLesson } from '../../store/tables/learnings/lessons.ts';
import { addTask, beginOwnTask, budgetNow, isReady, type OwnTaskParts } from './own-tasks.ts';

/** The job `learning`: decides about the learnings on trial, then lets an agent propose new ones if that is due. */
export async function learn(parts: OwnTaskParts): Promise<void> {
  await endTrials(parts);
  await learnIfDue(parts);
}

async function endTrials({ clock, logger, project, source, store }: OwnTaskParts): Promise<void> {
  const { trialIssues } = source.read().workflow.settings.learner;
  for (const learning of await store.learnings.list(project)) {
    if (learning.status !== 'trial') continue;
    const result = trialResult(await store.learnings.trialIssues(project, learning.id, learning.changedAt));
    const status = afterTrial(learning, result, trialIssues);
    if (status === null || status === 'trial') continue;
    const { sentBackWith, sentBackWithout } = result;
    // A person may have decided meanwhile.
    if (await store.learnings.change(project, learning.id, { status, at: clock.now() }, ['trial']))
      logger.info('learning_decided', { learning: learning.id, status, with: sentBackWith, without: sentBackWithout });
  }
}

async function learnIfDue(parts: OwnTaskParts): Promise<void> {
  const { clock, logger, source } = parts;
  const { settings } = source.read().workflow;
  if (!settings.learner.enabled) return;
  const tasks = await latestTasks(parts);
  const { budget } = await budgetNow(parts, 'learner');
  const found = await lessonsAfter(parts, tasks);
  const facts: LearnFacts = { now: clock.now(), tasks, budget, isReady: isReady(parts), lessons: found.length };
  const why = whyNoLearning(settings, facts);
  if (why !== null) return logger.debug('learning_not_due', { why });
  const task = await addTask(parts, nextTask(parts, tasks, found), { kind: 'orchestrator' });
  logger.info('learning_begun', { task, lessons: found.length });
}

/** A person asks for it now: they may know that little is enough. */
export async function beginLearning(parts: OwnTaskParts, { author }: Command): Promise<CommandAnswer> {
  const tasks = await latestTasks(parts);
  const found = await lessonsAfter(parts, tasks);
  const isFirst = !tasks.some(isUndecided) && parts.source.read().workflow.settings.learner.enabled;
  if (found.length === 0 && isFirst)
    return refused(
      'nothing_to_learn',
      'Since the last run of the learner, no run failed, no work was sent back and no person left a note.',
    );
  return beginOwnTask(parts, {
    role: 'learner',
    tasks,
    author,
    draft: () => nextTask(parts, tasks, found),
    does: 'An agent will read what happened.',
    show: 'baton learn show',
  });
}

/** The last one says since when lessons count; an open one comes before a new one. */
const tasksToRead = 5;

function latestTasks({ project, store }: OwnTaskParts): Promise<readonly Task[]> {
  return store.tasks.list(project, { kind: 'learn', limit: tasksToRead });
}

/** The lessons that no agent has read: those since the last task that was answered. */
function lessonsAfter({ project, store }: OwnTaskParts, tasks: readonly Task[]): Promise<readonly FoundLesson[]> {
  const last = tasks.find(({ status }) => status === 'proposed' || status === 'accepted' || status === 'refused');
  return store.learnings.lessons(project, last?.createdAt ?? 0, mostLessons);
}

function nextTask({ clock }: OwnTaskParts, tasks: readonly Task[], lessons: readonly FoundLesson[]) {
  const text = lessonsText(lessons);
  const id = nextTaskId('learn', tasks, clock.now());
  return { id, kind: 'learn', title: 'Learn from what happened', text } as const;
}
