import * as z from 'zod';
import {
  type Task as Presented,
  type ProposedSetup,
  type TaskDetail,
  taskDetail,
  taskList,
} from '../../../client/schema/task.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { Learning } from '../../../core/learning/learning.ts';
import { issuesIn, learningsIn, type Proposal, partsOf } from '../../../core/task/proposal.ts';
import type { ProvenCommand } from '../../../core/task/setup-proposal.ts';
import { type Task, taskKinds } from '../../../core/task/task.ts';
import { certainTime, timeToSecond } from '../../../core/text/time-text.ts';
import type { ApiProject } from '../api-project.ts';
import { presentAuthor } from '../present/present-command.ts';
import type { Route } from '../route.ts';
import { inProject, type ReadParts } from './in-project.ts';
import { presentOrigin } from './learnings-routes.ts';

/** The tasks of a project, and what their agents proposed. */
export function tasksRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/tasks',
      summary: 'The latest tasks, newest first.',
      query: z.object({
        kind: z.enum(taskKinds).optional(),
        limit: z.coerce.number().int().min(1).max(200).default(50),
      }),
      answer: taskList,
      handle: async (project, { query: { kind, limit } }) => {
        const tasks = await project.tables.tasks.list(project.id, { limit, ...(kind && { kind }) });
        return { tasks: tasks.map((task) => presentTask(task, project)) };
      },
    }),
    inProject(parts, {
      path: '/tasks/:task',
      summary: 'A task, and what its agent proposed.',
      params: { task: z.string().trim().min(1).max(100) },
      answer: taskDetail,
      handle: async (project, { params }) => {
        const task = await project.tables.tasks.read({ project: project.id, taskId: params.task });
        if (task === null) throw new BatonError('task_not_found', `There is no task "${params.task}".`);
        return presentTaskDetail(task, project, await replacedBy(project, task));
      },
    }),
  ];
}

/** Whether its agent is at work, and if not, why. */
function activityOf({ id, status }: Task, project: ApiProject): Pick<Presented, 'is_running' | 'waits_for'> {
  const { running, retrying, waitingQuota, held, skipped } = project.read();
  const isIt = ({ issue }: { readonly issue: { readonly id: string } }): boolean => issue.id === id;
  if (running.some(isIt) || status !== 'waiting') return { is_running: running.some(isIt), waits_for: null };
  const hold = held.find(isIt);
  const retry = [...retrying, ...waitingQuota].find(isIt);
  const skip = skipped.find(isIt)?.reason;
  const waitsFor =
    (hold && { code: hold.code, text: hold.reason }) ??
    (retry && {
      code: retry.waitCode ?? 'retry_scheduled',
      text: retry.waitReason ?? `it is tried again at ${timeToSecond(retry.dueAt)}, after this error: ${retry.error}`,
    }) ??
    (skip && { code: skip.code, text: skip.text });
  return { is_running: false, waits_for: waitsFor ?? null };
}

function presentTask(task: Task, project: ApiProject): Presented {
  const { id, kind, title, status, author, error, proposal } = task;
  return {
    id,
    kind,
    title,
    status,
    error,
    author: presentAuthor(author),
    ...activityOf(task, project),
    created_at: certainTime(task.createdAt),
    changed_at: certainTime(task.changedAt),
    open: status === 'proposed' ? openIn(proposal) : 0,
  };
}

function openIn(proposal: Proposal | null): number {
  return proposal?.kind === 'setup' ? 1 : partsOf(proposal).filter(({ decision }) => decision === 'open').length;
}

/** The learnings that those of a proposal would replace. */
async function replacedBy({ id, tables }: ApiProject, { proposal }: Task): Promise<readonly Learning[]> {
  const ids = new Set(learningsIn(proposal).flatMap(({ replaces }) => replaces));
  return ids.size === 0 ? [] : (await tables.learnings.list(id)).filter((each) => ids.has(each.id));
}

function presentTaskDetail(task: Task, project: ApiProject, replaced: readonly Learning[]): TaskDetail {
  const issues = issuesIn(task.proposal);
  return {
    ...presentTask(task, project),
    text: task.text,
    issues: issues.map(({ title, description, criteria, priority, labels, duplicateOf, decision, issue }, at) => ({
      number: at + 1,
      title,
      description,
      priority,
      labels: [...labels],
      decision,
      issue,
      acceptance_criteria: [...criteria],
      duplicate_of: duplicateOf,
    })),
    learnings: learningsIn(task.proposal).map(({ origins, replaces, ...rest }, at) => ({
      number: at + 1,
      ...rest,
      replaces: [...replaces],
      replaced: replaced.filter(({ id }) => replaces.includes(id)).map(({ id, text }) => ({ id, text })),
      origins: origins.map(presentOrigin),
    })),
    setup: presentSetup(task.proposal),
  };
}

function presentSetup(proposal: Proposal | null): ProposedSetup | null {
  if (proposal?.kind !== 'setup') return null;
  const { setup, checks, notes, commit, revision } = proposal;
  const present = ({ name, run, proof: { exitCode, durationMs, output } }: ProvenCommand) => ({
    name,
    run,
    exit_code: exitCode,
    duration_ms: durationMs,
    output,
  });
  return { setup: setup === null ? null : present(setup), checks: checks.map(present), notes, commit, revision };
}
