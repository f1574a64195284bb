import { isDeepStrictEqual } from 'node:util';
import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { boardStatuses, readBoardStatus } from '../../core/issue/board-status.ts';
import { type Blocker, type Issue, normalizeState } from '../../core/issue/issue.ts';
import type { Store } from '../../store/store.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import { commentAuthor, latestComments } from '../latest-comments.ts';
import type { Tracker } from '../tracker.ts';
import type { Board } from './board.ts';
import { createBoardEditor } from './board-editor.ts';
import { boardProfile } from './profile.ts';
import { requireIssue } from './require-issue.ts';
import { createReadAuthors } from './text-authors.ts';

/** The board as a tracker: statuses are states, and a run may make the changes that the transition table allows. */
export function createBoardTracker(board: Board, store: Store): Tracker {
  const { project } = board;
  const authorsOf = createReadAuthors(store, project);
  const withAuthors = async (issue: BoardIssue): Promise<Issue> =>
    toIssue(issue, await authorsOf(issue), await board.parentsOf([issue]));
  const readIssues = (query: () => Promise<readonly BoardIssue[]>, signal?: AbortSignal): Promise<Issue[]> =>
    read(async () => {
      const found = await query();
      const parents = await board.parentsOf(found);
      const issues: Issue[] = [];
      for (const issue of found) {
        signal?.throwIfAborted();
        issues.push(toIssue(issue, await authorsOf(issue), parents));
      }
      return issues;
    }, signal);
  /** What the last poll found. Most of it is the same at the next one, so that a comparison finds the same objects. */
  let polled = new Map<string, { readonly from: BoardIssue; readonly issue: Issue }>();
  const pollIssues = async (found: readonly BoardIssue[], signal?: AbortSignal): Promise<readonly Issue[]> => {
    // Another poll may replace it meanwhile.
    const before = polled;
    const changed = found.filter((each) => !isSame(before.get(each.id)?.from, each));
    const fresh = new Map((await readIssues(async () => changed, signal)).map((issue) => [issue.id, issue]));
    const after = new Map(
      found.flatMap((from) => {
        const issue = fresh.get(from.id) ?? before.get(from.id)?.issue;
        return issue === undefined ? [] : [[from.id, { from, issue }] as const];
      }),
    );
    polled = after;
    return [...after.values()].map(({ issue }) => issue);
  };
  return {
    kind: boardProfile.kind,
    startMove: { from: 'todo', to: 'in_progress' },
    isLocal: true,
    editor: createBoardEditor(board),
    fetchByStates: async (states, ask) => {
      ask?.signal?.throwIfAborted();
      const wanted = new Set(states.map(normalizeState));
      const statuses = boardStatuses.filter((status) => wanted.has(status));
      if (statuses.length === 0) return [];
      const found = await read(() => store.boardIssues.byStatuses(project, statuses), ask?.signal);
      return pollIssues(found, ask?.signal);
    },
    fetchByIds: async (ids, ask) => {
      ask?.signal?.throwIfAborted();
      if (ids.length === 0) return [];
      return readIssues(() => store.boardIssues.readMany(project, [...new Set(ids)]), ask?.signal);
    },
    fetchComments: async (id, ask) => {
      ask?.signal?.throwIfAborted();
      const said = await read(async () => {
        await requireIssue(store, project, id);
        return store.boardComments.list({ project, issueId: id });
      }, ask?.signal);
      return latestComments(said.map(({ author, at, body }) => ({ ...commentAuthor(author), at, body })));
    },
    fetchChildren: async (ids, ask) => {
      ask?.signal?.throwIfAborted();
      const of = async (id: string) =>
        [id, (await store.boardIssues.children({ project, issueId: id })).map(asBlocker)] as const;
      return new Map(await read(() => Promise.all([...new Set(ids)].map(of)), ask?.signal));
    },
    fetchPromotable: async (page, ask) => {
      ask?.signal?.throwIfAborted();
      return readIssues(() => store.boardIssues.promotable(project, page), ask?.signal);
    },
    changes: {
      moveIssue: async (id, state, author, ask) => {
        ask?.signal?.throwIfAborted();
        const to = readBoardStatus(state);
        const from = ask?.from === undefined ? undefined : (readBoardStatus(ask.from) ?? undefined);
        if (to !== null) return withAuthors(await board.move(id, to, { author, reason: ask?.reason ?? null }, from));
        return refuseState(state);
      },
      addComment: async (id, body, author, ask) => {
        ask?.signal?.throwIfAborted();
        await board.comment(id, body, author);
      },
      changeLabels: async (id, change, author, ask) => {
        ask?.signal?.throwIfAborted();
        return withAuthors(await board.relabel(id, change, { author }));
      },
      createChildren: async (plan, author, ask) => {
        ask?.signal?.throwIfAborted();
        for (const state of Object.values(plan.states)) if (readBoardStatus(state) === null) refuseState(state);
        return Promise.all((await board.split(plan, { author })).map(withAuthors));
      },
      createIssue: async ({ key, state = 'todo', ...fields }, author, ask) => {
        ask?.signal?.throwIfAborted();
        const status = readBoardStatus(state) ?? refuseState(state);
        const draft = { ...fields, labels: [...fields.labels], status, clientKey: key };
        const { issue } = await board.create(draft, { author });
        await ask?.run?.onWrite({ kind: 'issue', id: issue.id });
        return withAuthors(issue);
      },
    },
  };
}

function isSame(one: BoardIssue | undefined, other: BoardIssue): boolean {
  if (one === undefined || one === other) return one === other;
  const { labels, blockers, ...plain } = other;
  const isPlainSame = Object.entries(plain).every(([name, value]) => one[name as keyof BoardIssue] === value);
  return isPlainSame && isDeepStrictEqual([one.labels, one.blockers], [labels, blockers]);
}

function refuseState(state: string): never {
  const allowed = boardStatuses.join(', ');
  throw new BatonError('tracker_state_unknown', `There is no state "${state}". The board has: ${allowed}.`, {
    details: { state, allowed: boardStatuses },
  });
}

function asBlocker({ id, identifier, status }: Pick<BoardIssue, 'id' | 'identifier' | 'status'>): Blocker {
  return { id, identifier, state: status };
}

/** Turns a failure of the store into the error of a tracker that did not answer. */
async function read<T>(query: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const found = await query().catch((thrown: unknown) => {
    signal?.throwIfAborted();
    const cause = toBatonError(thrown, 'tracker_request');
    if (cause.code === 'tracker_issue_not_found') throw cause;
    throw new BatonError('tracker_request', `Failed to read the board: ${cause.message}`, { cause });
  });
  signal?.throwIfAborted();
  return found;
}

function toIssue(issue: BoardIssue, authorNames: readonly string[], parents: ReadonlyMap<string, string>): Issue {
  const { id, identifier, title, description, priority, status, branch, url, labels, createdAt, updatedAt } = issue;
  return {
    id,
    identifier,
    title,
    description,
    priority,
    state: status,
    branchName: branch,
    url,
    assigneeId: null,
    authorNames,
    labels,
    blockedBy: issue.blockers.map(asBlocker),
    parent: issue.parentId === null ? null : { id: issue.parentId, identifier: parents.get(issue.parentId) ?? '' },
    dispatchable: true,
    nativeRef: null,
    createdAt,
    updatedAt,
  };
}
