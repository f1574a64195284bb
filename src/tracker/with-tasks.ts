import { BatonError } from '../core/baton-error.ts';
import type { Author } from '../core/issue/author.ts';
import { type Issue, isInOneOf } from '../core/issue/issue.ts';
import type { TrackerSettings } from '../core/settings.ts';
import { isTaskId, type Task, taskIssue } from '../core/task/task.ts';
import type { Ask, ChildrenPlan, Snapshot, SnapshotRequest, Tracker, TrackerChanges } from './tracker.ts';

/** The tasks of a project, from the store. */
export interface TaskReads {
  /** Those that wait for their agent, or have one. */
  open(): Promise<readonly Task[]>;
  byIds(ids: readonly string[]): Promise<readonly Task[]>;
}

/**
 * A tracker that also has the tasks of Baton itself, as issues. What must hold: the tracker behind it is never asked about a
 * task, neither by a read nor by a change; and an issue of that tracker whose id looks like a task's is refused, so that
 * no tracker can make one.
 */
export function withTasks(tracker: Tracker, tasks: TaskReads, settings: TrackerSettings): Tracker {
  const { fetchSnapshot, fetchComments, fetchChildren, fetchWriters } = tracker;
  const asIssue = (task: Task): Issue => taskIssue(task, settings);
  const isActive = isInOneOf(settings.activeStates);
  const openIn = async (states: readonly string[]): Promise<readonly Issue[]> =>
    states.some((state) => isActive({ state })) ? (await tasks.open()).map(asIssue).filter(isInOneOf(states)) : [];
  const found = async (ids: readonly string[]): Promise<ReadonlyMap<string, Issue>> =>
    new Map(ids.length === 0 ? [] : (await tasks.byIds(ids)).map((task) => [task.id, asIssue(task)]));
  const theirs = (ids: readonly string[]): readonly string[] => ids.filter((id) => !isTaskId(id));
  const whole: Tracker = {
    ...others(tracker),
    fetchByStates: async (states, ask) => [
      ...(await openIn(states)),
      ...(await tracker.fetchByStates(states, ask)).map(checked),
    ],
    fetchByIds: async (ids, ask) => {
      const own = await found(ids.filter(isTaskId));
      const read = await tracker.fetchByIds(theirs(ids), ask);
      const others = new Map(read.map((issue) => [checked(issue).id, issue]));
      return [...new Set(ids)].flatMap((id) => own.get(id) ?? others.get(id) ?? []);
    },
    changes: tracker.changes === null ? null : guarded(tracker.changes),
  };
  const readSnapshot = async (
    read: NonNullable<Tracker['fetchSnapshot']>,
    request: SnapshotRequest,
    ask?: Ask,
  ): Promise<Snapshot> => {
    const { states, watched, welcome = [] } = request;
    const [open, own] = [await openIn(states), await found(watched.filter(isTaskId))];
    const asked = { states, watched: theirs(watched), welcome: theirs(welcome) };
    const snapshot = await read.call(tracker, asked, ask);
    return {
      ...snapshot,
      issues: [...open, ...snapshot.issues.map(checked)],
      watched: new Map([
        ...snapshot.watched,
        ...watched.filter(isTaskId).map((id) => [id, own.get(id) ?? null] as const),
      ]),
      ...(snapshot.seen && { seen: new Set([...snapshot.seen, ...open.map(({ id }) => id)]) }),
    };
  };
  return {
    ...whole,
    ...(fetchSnapshot && {
      fetchSnapshot: (request: SnapshotRequest, ask?: Ask) => readSnapshot(fetchSnapshot, request, ask),
    }),
    ...(fetchComments && {
      fetchComments: async (id: string, ask?: Ask) =>
        isTaskId(id) ? { comments: [], hasEarlier: false } : fetchComments.call(tracker, id, ask),
    }),
    ...(fetchChildren && {
      fetchChildren: (ids: readonly string[], ask?: Ask) => fetchChildren.call(tracker, theirs(ids), ask),
    }),
    ...(fetchWriters && {
      fetchWriters: async (id: string, ask?: Ask) => (isTaskId(id) ? [] : fetchWriters.call(tracker, id, ask)),
    }),
  };
}

/** What has nothing to do with single issues. A tracker may be an object of a class, so its members are named. */
function others(tracker: Tracker): Pick<Tracker, 'kind'> & Partial<Tracker> {
  const { kind, fetchOpen, fetchPromotable, pressure, nativeTools, editor, startMove, isLocal } = tracker;
  return {
    kind,
    ...(fetchOpen && { fetchOpen: fetchOpen.bind(tracker) }),
    ...(fetchPromotable && { fetchPromotable: fetchPromotable.bind(tracker) }),
    ...(pressure && { pressure: pressure.bind(tracker) }),
    ...(nativeTools && { nativeTools }),
    ...(editor && { editor }),
    ...(startMove && { startMove }),
    ...(isLocal === undefined ? {} : { isLocal }),
  };
}

/** Nothing that a tracker keeps of an issue can be changed of a task. */
function guarded(changes: TrackerChanges): TrackerChanges {
  const { createChildren } = changes;
  const ofIssue = (id: string): string => {
    if (!isTaskId(id)) return id;
    throw new BatonError('tracker_issue_not_found', `${id} is a task of Baton; the tracker has no such issue.`);
  };
  return {
    ...changes,
    moveIssue: async (id, ...rest) => changes.moveIssue(ofIssue(id), ...rest),
    addComment: async (id, ...rest) => changes.addComment(ofIssue(id), ...rest),
    changeLabels: async (id, ...rest) => changes.changeLabels(ofIssue(id), ...rest),
    ...(createChildren && {
      createChildren: async (plan: ChildrenPlan, ...rest: [Author, Ask?]) =>
        createChildren.call(changes, { ...plan, parentId: ofIssue(plan.parentId) }, ...rest),
    }),
  };
}

function checked(issue: Issue): Issue {
  if (!isTaskId(issue.id)) return issue;
  throw new BatonError(
    'tracker_response',
    `The tracker has an issue with the id "${issue.id}", which only tasks of Baton have.`,
  );
}
