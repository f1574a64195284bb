import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Author } from '../../src/core/issue/author.ts';
import { boardStatuses } from '../../src/core/issue/board-status.ts';
import type { Board } from '../../src/tracker/board/board.ts';
import { allowedMoves, boardOwner } from '../../src/tracker/board/board-transitions.ts';
import type { IssueDetails } from '../../src/tracker/board/read-board.ts';
import { runs } from '../property-runs.ts';
import { engines } from '../store/engines.ts';
import { ada, boardScene } from './board-scene.ts';

const author: fc.Arbitrary<Author> = fc.oneof(
  fc.constant({ kind: 'orchestrator' } as const),
  fc.constant({ kind: 'run', runId: 'run-1' } as const),
  fc.constant({ kind: 'person', name: 'ada' } as const),
);
const which = fc.nat({ max: 3 });
const operation = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('move' as const), which, to: fc.constantFrom(...boardStatuses) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('block' as const), which, other: which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unblock' as const), which, other: which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('parent' as const), which, other: fc.option(which) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      which,
      edit: fc.record(
        {
          title: fc.constantFrom('one', 'two'),
          description: fc.option(fc.constantFrom('text', ' ')),
          priority: fc.option(fc.integer({ min: 1, max: 4 })),
          labels: fc.array(fc.constantFrom('a', 'B', ' b ', 'c'), { maxLength: 3 }),
          branch: fc.option(fc.constantFrom('main', 'x/y')),
          url: fc.option(fc.constant('https://example.invalid/')),
        },
        { requiredKeys: [] },
      ),
    }),
  },
);
const step = fc.record({ operation, author });
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

describe.each(engines)('on $name', ({ missing, place }) => {
  // @conforms board.1
  it.skipIf(missing !== null)(
    'no sequence of changes breaks the transition table or closes a cycle, and history replays to the present',
    async () => {
      const { board } = await boardScene(await place());
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => expectAllHolds(board, steps)),
        { numRuns: runs(60) },
      );
    },
    120_000,
  );
});

async function expectAllHolds(board: Board, steps: readonly Step[]): Promise<void> {
  const ids: string[] = [];
  for (const title of ['a', 'b', 'c', 'd']) ids.push((await board.create({ title }, ada)).issue.id);
  for (const each of steps) await take(board, ids, each);
  for (const id of ids) {
    const details = await board.details(id);
    expect(replayed(details)).toEqual(present(details));
    expectMovesOnTheMap(details);
    expect(await reaches(board, id, ({ issue }) => issue.blockers.map((blocker) => blocker.id))).toBe(false);
    expect(await reaches(board, id, ({ parent }) => (parent === null ? [] : [parent.id]))).toBe(false);
  }
}

/** Takes a step. A refused step must change nothing, and a move is refused exactly when the table does not have it. */
async function take(board: Board, ids: readonly string[], { operation: act, author: by }: Step): Promise<void> {
  const id = ids[act.which] ?? '';
  const before = await board.details(id);
  const isOnTheMap =
    act.kind === 'move' &&
    (act.to === before.issue.status || allowedMoves(before.issue.status, boardOwner(by)).includes(act.to));
  try {
    if (act.kind === 'move') await board.move(id, act.to, { author: by });
    else if (act.kind === 'edit') await board.edit(id, act.edit, { author: by });
    else if (act.kind === 'parent') {
      await board.edit(id, { parentId: act.other === null ? null : (ids[act.other] ?? '') }, { author: by });
    } else await board[act.kind](id, ids[act.other] ?? '', { author: by });
    if (act.kind === 'move') expect(isOnTheMap).toBe(true);
  } catch (error) {
    if (!(error instanceof BatonError)) throw error;
    expect(error.code).toBe(act.kind === 'move' ? 'board_move_refused' : 'board_cycle');
    expect(isOnTheMap).toBe(false);
    expect(await board.details(id)).toEqual(before);
  }
}

/** Applies every entry to the first one, and checks that each begins where the one before ended. */
function replayed({ history }: IssueDetails): unknown {
  const [first, ...later] = history;
  expect(first?.field).toBe('created');
  const facts = { ...(first?.to as Record<string, unknown>) };
  for (const { field, from, to } of later) {
    expect(from).toEqual(facts[field]);
    facts[field] = to;
  }
  return facts;
}

function present({ issue, parent }: IssueDetails): unknown {
  const { title, description, status, priority, labels, branch, url, blockers } = issue;
  return {
    title,
    description,
    status,
    priority,
    labels: labels.toSorted(),
    parent: parent?.identifier ?? null,
    branch,
    url,
    blocked_by: blockers.map(({ identifier }) => identifier).toSorted(),
  };
}

function expectMovesOnTheMap({ history }: IssueDetails): void {
  for (const { author: by, from, to } of history.filter(({ field }) => field === 'status')) {
    const status = boardStatuses.find((each) => each === from) ?? 'todo';
    expect(allowedMoves(status, boardOwner(by))).toContain(to);
  }
}

/** Whether following the links from an issue leads back to it. */
async function reaches(board: Board, id: string, next: (details: IssueDetails) => readonly string[]): Promise<boolean> {
  const seen = new Set<string>();
  const work = [...next(await board.details(id))];
  for (let current = work.pop(); current !== undefined; current = work.pop()) {
    if (current === id) return true;
    if (seen.has(current)) continue;
    seen.add(current);
    work.push(...next(await board.details(current)));
  }
  return false;
}
