import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type BoardStatus, boardStatuses, readBoardStatus } from '../../src/core/issue/board-status.ts';
import {
  allowedMoves,
  type BoardOwner,
  boardOwner,
  boardTransitions,
  firstStatuses,
  whyMoveRefused,
} from '../../src/tracker/board/board-transitions.ts';
import { telling } from '../telling.ts';

const owners: readonly BoardOwner[] = ['orchestrator', 'agent', 'person'];

/** Seed 4, Status Transitions, the further moves of a person, and `review.auto_merge`, written out again. */
const expected: Record<BoardOwner, Partial<Record<BoardStatus, readonly BoardStatus[]>>> = {
  orchestrator: {
    backlog: ['todo'],
    todo: ['in_progress'],
    in_progress: ['review', 'todo'],
    review: ['done', 'todo'],
    blocked: ['todo'],
  },
  agent: { in_progress: ['blocked', 'review'], review: ['todo'] },
  person: {
    backlog: ['cancelled', 'done', 'todo'],
    todo: ['backlog', 'cancelled', 'done'],
    in_progress: ['cancelled', 'done', 'review', 'todo'],
    review: ['cancelled', 'done', 'todo'],
    blocked: ['cancelled', 'done', 'todo'],
    done: ['todo'],
    cancelled: ['backlog', 'todo'],
  },
};

const cases = owners.flatMap((owner) =>
  boardStatuses.flatMap((from) =>
    boardStatuses.map((to) => ({ owner, from, to, allowed: expected[owner][from]?.includes(to) ?? false })),
  ),
);

describe('the transition table', () => {
  // @conforms 4.73, 4.62, 4.66, 4.71, 4.72
  it.each(cases)('$owner: $from → $to is allowed: $allowed', ({ owner, from, to, allowed }) => {
    expect(allowedMoves(from, owner).includes(to)).toBe(allowed);
    expect(whyMoveRefused(from, to, owner) === null).toBe(allowed || from === to);
  });

  it('has each pair of statuses once, and no status paired with itself', () => {
    const pairs = boardTransitions.map(({ from, to }) => `${from} ${to}`);
    expect(pairs).toEqual([...new Set(pairs)]);
    expect(boardTransitions.filter(({ from, to }) => from === to)).toEqual([]);
  });

  it('names the allowed moves, and who may make the refused one', () => {
    expect(whyMoveRefused('in_progress', 'done', 'agent')).toEqual(
      telling('in_progress', 'done', 'person', 'agent', 'review', 'blocked'),
    );
    const nobodys = whyMoveRefused('done', 'review', 'agent');
    expect(nobodys).toEqual(telling('done', 'review', 'agent'));
    expect(nobodys).not.toMatch(/person|orchestrator/);
  });

  it('matches docs/board.md', () => {
    const page = readFileSync(new URL('../../docs/board.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `(?<from>[a-z_]+)` → `(?<to>[a-z_]+)` \| (?<owners>[a-z, ]+) \|/gm)];
    expect(rows.map(({ groups }) => [groups?.from, groups?.to, groups?.owners])).toEqual(
      boardTransitions.map(({ from, to, owners: allowed }) => [from, to, allowed.join(', ')]),
    );
  });
});

it('treats an agent as a run', () => {
  expect(boardOwner({ kind: 'run', runId: 'r' })).toBe('agent');
  expect(boardOwner({ kind: 'person', name: 'ada' })).toBe('person');
  expect(boardOwner({ kind: 'orchestrator' })).toBe('orchestrator');
});

it('lets only a person create an issue beyond todo', () => {
  expect(firstStatuses('person')).toEqual(boardStatuses);
  expect(firstStatuses('agent')).toEqual(['backlog', 'todo']);
  expect(firstStatuses('orchestrator')).toEqual(['backlog', 'todo']);
});

it.each([
  [' TODO ', 'todo'],
  ['In Progress', 'in_progress'],
  ['in-progress', 'in_progress'],
  ['closed', null],
  ['', null],
])('reads %j as the status %j', (text, status) => {
  expect(readBoardStatus(text)).toBe(status);
});
