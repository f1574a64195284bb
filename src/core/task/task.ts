import type { Author } from '../issue/author.ts';
import type { Issue } from '../issue/issue.ts';
import type { Role } from '../run/role.ts';
import type { TrackerSettings } from '../settings.ts';
import type { Proposal } from './proposal.ts';

/**
 * Work for an agent that is not about an issue of the tracker (seed 4, synthetic keys): it proposes something, and a person
 * decides. A task is claimed, started, counted and shown like an issue, under an id that no tracker is ever asked about
 * (`tracker/with-tasks.ts`).
 *
 * | from     | to                                                                                          |
 * |----------|---------------------------------------------------------------------------------------------|
 * | waiting  | proposed: its agent has answered; failed: its run ended without an answer, for whatever cause |
 * | proposed | accepted or refused, by a person; what was proposed first stays                             |
 * | waiting  | refused, by a person                                                                        |
 * | failed   | waiting again, by a person                                                                  |
 */
export interface Task {
  /** `intake:3f9a2c01`: the kind, and a name that is never used again. */
  readonly id: string;
  readonly kind: TaskKind;
  /** One line. */
  readonly title: string;
  /** What it is about, such as the text of an intake: words of strangers, as far as Baton knows. */
  readonly text: string;
  readonly status: TaskStatus;
  /** What its agent proposed; null: nothing yet. */
  readonly proposal: Proposal | null;
  /** Why it failed; null: it did not. */
  readonly error: TaskError | null;
  readonly author: Author;
  readonly createdAt: number;
  /** When its status changed last. */
  readonly changedAt: number;
}

/** Why a run ended, as runs say it. */
export interface TaskError {
  readonly code: string;
  readonly message: string;
}

/** The longest text of an intake: more than an agent can read at once. */
export const mostIntakeChars = 200_000;

export const taskStatuses = ['waiting', 'proposed', 'accepted', 'refused', 'failed'] as const;
export type TaskStatus = (typeof taskStatuses)[number];

/** The kinds of tasks, each with the role of its agent. */
const roleOfKind = { intake: 'intake', scan: 'scanner', setup: 'setup', learn: 'learner' } as const;

export type TaskKind = keyof typeof roleOfKind;
export type TaskRole = (typeof roleOfKind)[TaskKind];

export const taskKinds = Object.keys(roleOfKind) as readonly TaskKind[];

/** The kind of a task by its id; null: it is the id of an issue. */
export function taskKindOf(id: string): TaskKind | null {
  const colon = id.indexOf(':');
  const word = colon < 0 ? '' : id.slice(0, colon);
  return taskKinds.find((kind) => kind === word) ?? null;
}

export function isTaskId(id: string): boolean {
  return taskKindOf(id) !== null;
}

export function taskRoleOfKind(kind: TaskKind): TaskRole {
  return roleOfKind[kind];
}

/** The role of the agent of a task, by its id; null: it is an issue. */
export function taskRoleOf(id: string): TaskRole | null {
  const kind = taskKindOf(id);
  return kind === null ? null : roleOfKind[kind];
}

export function isTaskRole(role: Role): role is TaskRole {
  return Object.values(roleOfKind).some((each) => each === role);
}

/** An id for a new task; `unique` has letters and digits. */
export function newTaskId(kind: TaskKind, unique: string): string {
  return `${kind}:${unique.replaceAll('-', '').slice(0, 12)}`;
}

/**
 * The id of the task after these, the newest first: two daemons that begin it at the same time, or one again after a crash,
 * begin the same one.
 */
export function nextTaskId(kind: TaskKind, tasks: readonly Task[], now: number): string {
  return newTaskId(kind, (tasks[0]?.createdAt ?? now - (now % dayMs)).toString(36));
}

const dayMs = 24 * 3_600_000;

/**
 * A task as the scheduler sees it: an issue that is active while the task waits, and over afterwards. It has the labels that
 * every issue needs here. No start moves it.
 */
export function taskIssue(
  { id, title, text, status, createdAt, changedAt }: Task,
  { activeStates, terminalStates, requiredLabels }: TaskStates,
): Issue {
  const [active = '', over = ''] = [activeStates[0], terminalStates[0]];
  return {
    id,
    identifier: id,
    title,
    description: text,
    state: status === 'waiting' ? active : over,
    priority: null,
    branchName: null,
    url: null,
    assigneeId: null,
    nativeRef: null,
    authorNames: [],
    labels: requiredLabels,
    blockedBy: [],
    dispatchable: true,
    createdAt,
    updatedAt: changedAt,
  };
}

type TaskStates = Pick<TrackerSettings, 'activeStates' | 'terminalStates' | 'requiredLabels'>;
