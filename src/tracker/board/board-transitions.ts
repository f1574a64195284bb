import type { Author } from '../../core/issue/author.ts';
import { type BoardStatus, boardStatuses, readBoardStatus } from '../../core/issue/board-status.ts';
import type { IssueMove } from '../tracker.ts';

/**
 * The moves of an issue on Baton's own board, and who may make each (seed 4, Status Transitions; the rows of a person go
 * beyond it). A move that is not listed is refused.
 *
 * | status      | what it means                        | who brings an issue in          | who takes it out            |
 * |-------------|--------------------------------------|---------------------------------|-----------------------------|
 * | backlog     | wanted some day                      | person                          | orchestrator, person        |
 * | todo        | to be started; waits for its blockers| all three                       | orchestrator, person        |
 * | in_progress | an agent works on it                 | orchestrator                    | all three                   |
 * | review      | a change waits for a person          | all three                       | all three; done: no agent   |
 * | blocked     | waits for other issues               | agent                           | orchestrator, person        |
 * | done        | merged, or no longer needed          | person, orchestrator            | person                      |
 * | cancelled   | will not be done                     | person                          | person                      |
 *
 * No agent finishes an issue. The orchestrator moves it to `done` only from review, when it merged the change itself
 * (`review.auto_merge`). The store keeps the status; each move and its history are one transaction, so a crash leaves the issue before the move or after it.
 */
export const boardTransitions: readonly BoardTransition[] = [
  { from: 'backlog', to: 'todo', owners: ['orchestrator', 'person'] },
  { from: 'backlog', to: 'done', owners: ['person'] },
  { from: 'backlog', to: 'cancelled', owners: ['person'] },
  { from: 'todo', to: 'in_progress', owners: ['orchestrator'] },
  { from: 'todo', to: 'backlog', owners: ['person'] },
  { from: 'todo', to: 'done', owners: ['person'] },
  { from: 'todo', to: 'cancelled', owners: ['person'] },
  { from: 'in_progress', to: 'review', owners: ['agent', 'orchestrator', 'person'] },
  { from: 'in_progress', to: 'todo', owners: ['orchestrator', 'person'] },
  { from: 'in_progress', to: 'blocked', owners: ['agent'] },
  { from: 'in_progress', to: 'done', owners: ['person'] },
  { from: 'in_progress', to: 'cancelled', owners: ['person'] },
  { from: 'review', to: 'todo', owners: ['agent', 'orchestrator', 'person'] },
  { from: 'review', to: 'done', owners: ['orchestrator', 'person'] },
  { from: 'review', to: 'cancelled', owners: ['person'] },
  { from: 'blocked', to: 'todo', owners: ['orchestrator', 'person'] },
  { from: 'blocked', to: 'done', owners: ['person'] },
  { from: 'blocked', to: 'cancelled', owners: ['person'] },
  { from: 'done', to: 'todo', owners: ['person'] },
  { from: 'cancelled', to: 'backlog', owners: ['person'] },
  { from: 'cancelled', to: 'todo', owners: ['person'] },
];

export interface BoardTransition {
  readonly from: BoardStatus;
  readonly to: BoardStatus;
  readonly owners: readonly BoardOwner[];
}

/** The three domains of ownership. An agent is a run. */
export type BoardOwner = 'orchestrator' | 'agent' | 'person';

export function boardOwner(author: Author): BoardOwner {
  return author.kind === 'run' ? 'agent' : author.kind;
}

/** The statuses an owner may move an issue to from where it is. */
export function allowedMoves(from: BoardStatus, owner: BoardOwner): readonly BoardStatus[] {
  return boardTransitions.filter((row) => row.from === from && row.owners.includes(owner)).map(({ to }) => to);
}

/** Why an owner may not make this move, with the moves it may make; null when it may. Staying is always allowed. */
export function whyMoveRefused(from: BoardStatus, to: BoardStatus, owner: BoardOwner): string | null {
  const allowed = allowedMoves(from, owner);
  if (from === to || allowed.includes(to)) return null;
  const others = boardTransitions.find((row) => row.from === from && row.to === to)?.owners ?? [];
  const whose =
    others.length === 0 ? 'no one can' : `only ${others.map((other) => ownerWords[other]).join(' or ')} can`;
  const choice = allowed.length === 0 ? 'nowhere' : `only to ${allowed.join(' or ')}`;
  return `${whose} move it from ${from} to ${to}; ${ownerWords[owner]} can move it ${choice}`;
}

/** Every status that a person could move an issue to, with the reason where the move is refused. */
export function movesFrom(state: string): readonly IssueMove[] {
  const from = readBoardStatus(state);
  if (from === null) return [];
  return boardStatuses.filter((to) => to !== from).map((to) => ({ to, whyNot: whyMoveRefused(from, to, 'person') }));
}

export const ownerWords: Readonly<Record<BoardOwner, string>> = {
  orchestrator: 'the orchestrator',
  agent: 'an agent',
  person: 'a person',
};

/**
 * The statuses a new issue may begin in. A person may record what happened elsewhere. The others only propose work,
 * because every later status says that work was done.
 */
export function firstStatuses(owner: BoardOwner): readonly BoardStatus[] {
  return owner === 'person' ? boardStatuses : ['backlog', 'todo'];
}
