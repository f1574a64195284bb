import { isDeepStrictEqual } from 'node:util';
import { BatonError } from '../../core/baton-error.ts';
import { type Issue, isInOneOf } from '../../core/issue/issue.ts';
import { isOffered } from '../../core/learning/learning.ts';
import type { RequestCaller } from '../../core/requests/request-caller.ts';
import type { RunOutcome } from '../../core/run/run.ts';
import type { Settings } from '../../core/settings.ts';
import type { KnownIssue } from '../../core/task/proposal.ts';
import { isTaskId, isTaskRole, type TaskRole } from '../../core/task/task.ts';
import type { TaskBrief } from '../../runner/runner.ts';
import type { StoreTables } from '../../store/store.ts';
import type { Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { Candidates } from '../poll/candidates.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import { askTracker } from '../status/move-issue.ts';
import type { OpenProposals } from './open-proposals.ts';

export interface TaskRunParts
  extends Pick<BaseParts, 'clock' | 'logger' | 'project' | 'source' | 'stopping' | 'store' | 'trackerFor'> {
  readonly claims: Claims;
  readonly candidates: Candidates;
  readonly reads: TrackerReads;
  readonly proposals: OpenProposals;
}

/** What the agent of a task gets to know; null: the run is about an issue. */
export async function briefForTask(parts: TaskRunParts, running: Running): Promise<TaskBrief | null> {
  const { role, issue } = running;
  if (!isTaskRole(role)) return null;
  const { project, store, clock, claims, proposals } = parts;
  const task = await store.tasks.read({ project, taskId: issue.id });
  if (task === null) throw new BatonError('tracker_issue_not_found', `There is no task ${issue.id} any more.`);
  return {
    task,
    open: role === 'intake' || role === 'scanner' ? await openIssues(parts) : [],
    learnings: role === 'learner' ? (await store.learnings.list(project)).filter(isOffered) : [],
    most: mostOf(role, running.workflow.settings),
    propose: async (proposal) => {
      // With its answer the task is over. Its agent may finish its turn, as one that moved its issue itself.
      running.ownMove = { to: null, atMonotonic: clock.monotonic() };
      let isNoted = false;
      const isOurs = await claims.writeForRun(running, async (tables) => {
        const key = { project, taskId: task.id };
        // A person may have read the first one already, and what they accept must be what they read.
        const { proposal: first } = (await tables.tasks.read(key)) ?? {};
        isNoted = isDeepStrictEqual(first, proposal) || (await tables.tasks.propose(key, proposal, clock.now()));
      });
      if (!isOurs) throw new BatonError('claim_lost', 'Another daemon has the task now.');
      if (!isNoted)
        throw new BatonError('command_refused', 'This task has a proposal already. A person decides about that one.');
      await proposals.read();
    },
  };
}

/** How much the agent of a task may propose. */
function mostOf(role: TaskRole, { intake, scanner, learner }: Settings): number {
  if (role === 'learner') return learner.maxLearnings;
  return role === 'setup' ? 0 : { intake, scanner }[role].maxIssues;
}

/**
 * The issues that are open: of a tracker on this machine all of them, else the newest. While it does not answer, those that
 * the last poll found.
 */
async function openIssues(parts: TaskRunParts): Promise<readonly KnownIssue[]> {
  const { candidates, logger, source, trackerFor } = parts;
  const { settings } = source.read().workflow;
  const isFinished = isInOneOf(settings.tracker.terminalStates);
  const caller = { job: 'run', cause: 'person' } as const;
  const all = await allOpenIssues(parts, caller);
  const { fetchOpen } = trackerFor(settings);
  if (all === null && fetchOpen !== undefined) {
    try {
      return await askTracker(parts, (signal) => fetchOpen({ signal, caller }));
    } catch (error) {
      logger.warn('open_issues_unread', { error });
    }
  }
  return (all ?? candidates.polled ?? [])
    .filter((issue) => !isTaskId(issue.id) && !isFinished(issue))
    .map(({ identifier, title }) => ({ identifier, title }));
}

/** Every issue that is not finished; null where Baton does not know the states of the tracker, or has to pay for the read. */
export async function allOpenIssues(
  { reads, source, trackerFor }: Pick<TaskRunParts, 'reads' | 'source' | 'trackerFor'>,
  caller: RequestCaller,
): Promise<readonly Issue[] | null> {
  const { settings } = source.read().workflow;
  const { isLocal, editor } = trackerFor(settings);
  const isFinished = isInOneOf(settings.tracker.terminalStates);
  const states = isLocal === true ? (editor?.states ?? []).filter((state) => !isFinished({ state })) : [];
  if (states.length === 0) return null;
  return (await reads.byStates(states, caller)).filter(({ id }) => !isTaskId(id));
}

/** With the end of a run: a task without an answer has failed. */
export async function writeTaskEnd(
  { clock, project }: Pick<BaseParts, 'clock' | 'project'>,
  { tasks }: Pick<StoreTables, 'tasks'>,
  { issue, role }: Running,
  outcome: RunOutcome,
): Promise<void> {
  if (!isTaskRole(role)) return;
  const { code, message } = outcome.end === 'succeeded' ? unanswered : outcome.error;
  await tasks.fail({ project, taskId: issue.id }, { code, message }, clock.now());
}

const unanswered = { code: 'task_unanswered', message: 'The agent ended without an answer.' } as const;

/** The daemon that ran this task is gone. Nothing happens to an issue. */
export async function failTask(
  { clock, project, store }: Pick<BaseParts, 'clock' | 'project' | 'store'>,
  taskId: string,
): Promise<void> {
  if (!isTaskId(taskId)) return;
  const error = { code: 'orchestrator_restarted', message: 'The daemon ended before the run did.' } as const;
  await store.tasks.fail({ project, taskId }, error, clock.now());
}
