import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { boardStatuses, readBoardStatus } from '../../core/issue/board-status.ts';
import { type Issue, normalizeState } from '../../core/issue/issue.ts';
import type { Store } from '../../store/store.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import { commentAuthor, latestComments } from '../latest-comments.ts';
import type { Tracker } from '../tracker.ts';
import type { Board } from './board.ts';
import { createBoardEditor } from './board-editor.ts';
import { boardProfile } from './profile.ts';
import { requireIssue } from './require-issue.ts';
import { createReadAuthors, type ReadAuthors } from './text-authors.ts';

/** The board as a tracker: statuses are states, and a run may make the changes that the transition table allows. */
export function createBoardTracker(board: Board, store: Store): Tracker {
  const { project } = board;
  const authorsOf = createReadAuthors(store, project);
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
      return readIssues(() => store.boardIssues.byStatuses(project, statuses), authorsOf, ask?.signal);
    },
    fetchByIds: async (ids, ask) => {
      ask?.signal?.throwIfAborted();
      if (ids.length === 0) return [];
      return readIssues(() => store.boardIssues.readMany(project, [...new Set(ids)]), authorsOf, ask?.signal);
    },
    fetchComments: async (id, ask) => {
      ask?.signal?.throwIfAborted();
      const said = await read(async () => {
        await requireIssue(store, project, id);
        return store.boardComments.list({ project, issueId: id });
      }, ask?.signal);
      return latestComments(said.map(({ author, at, body }) => ({ ...commentAuthor(author), at, body })));
    },
    changes: {
      moveIssue: async (id, state, author, ask) => {
        ask?.signal?.throwIfAborted();
        const to = readBoardStatus(state);
        if (to !== null) {
          const moved = await board.move(id, to, { author });
          return toIssue(moved, await authorsOf(moved));
        }
        const allowed = boardStatuses.join(', ');
        throw new BatonError('tracker_state_unknown', `There is no state "${state}". The board has: ${allowed}.`, {
          details: { state, allowed: boardStatuses },
        });
      },
      addComment: async (id, body, author, ask) => {
        ask?.signal?.throwIfAborted();
        await board.comment(id, body, author);
      },
    },
  };
}

async function readIssues(
  query: () => Promise<readonly BoardIssue[]>,
  authorsOf: ReadAuthors,
  signal?: AbortSignal,
): Promise<Issue[]> {
  return read(async () => {
    const issues: Issue[] = [];
    for (const issue of await query()) {
      signal?.throwIfAborted();
      issues.push(toIssue(issue, await authorsOf(issue)));
    }
    return issues;
  }, signal);
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

function toIssue(issue: BoardIssue, authorNames: readonly string[]): Issue {
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
    blockedBy: issue.blockers.map((blocker) => ({
      id: blocker.id,
      identifier: blocker.identifier,
      state: blocker.status,
    })),
    dispatchable: true,
    nativeRef: null,
    createdAt,
    updatedAt,
  };
}
