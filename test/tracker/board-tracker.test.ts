import { describe, expect, it } from 'vitest';
import type { BoardStatus } from '../../src/core/board-status.ts';
import { whyNotCandidate } from '../../src/core/eligibility.ts';
import { createBoardTracker } from '../../src/tracker/board/board-tracker.ts';
import { boardProfile } from '../../src/tracker/board/profile.ts';
import { trackerConformance } from '../conformance/tracker.ts';
import { settings } from '../fake/settings.ts';
import { ada, aRun, boardScene, openScene, theOrchestrator } from './board-scene.ts';

trackerConformance(
  'the board',
  async (issues) => {
    const { board, store, clock, close } = await openScene();
    let failing = false;
    // The store itself gives the ids, so that the suite can name the issues.
    for (const { id, title, description, priority, state, labels, branchName, url, blockedBy } of issues) {
      const blockerIds = blockedBy.map((blocker) => blocker.id ?? '');
      const fields = { title, description, priority, labels, branch: branchName, url, blockerIds };
      const draft = { ...fields, id, status: state as BoardStatus, prefix: 'T', parentId: null, clientKey: null };
      await store.boardIssues.create(board.project, draft, clock.now());
    }
    const breaking = {
      ...store,
      boardIssues: {
        ...store.boardIssues,
        byStatuses: async (...query: Parameters<typeof store.boardIssues.byStatuses>) => {
          if (failing) throw new Error('the disk is on fire');
          return store.boardIssues.byStatuses(...query);
        },
        readMany: async (...query: Parameters<typeof store.boardIssues.readMany>) => {
          if (failing) throw new Error('the disk is on fire');
          return store.boardIssues.readMany(...query);
        },
      },
    };
    return {
      tracker: createBoardTracker(board, breaking),
      move: async (id, state) => void (await board.move(id, state as BoardStatus, ada)),
      remove: null,
      requests: () => null,
      fail: (wanted) => {
        failing = wanted;
      },
      dispose: close,
    };
  },
  { todo: 'todo', active: 'in_progress', done: 'done', movableByRun: { from: 'in_progress', to: 'review' } },
);

describe('the board as a tracker', () => {
  const tracker = settings({
    tracker: {
      kind: 'board',
      activeStates: boardProfile.defaultActiveStates ?? [],
      terminalStates: boardProfile.defaultTerminalStates ?? [],
    },
  }).tracker;

  it('keeps a todo issue from starting until its blockers are over', async () => {
    const { board, store } = await boardScene();
    const first = (await board.create({ title: 'first' }, ada)).issue;
    const second = (await board.create({ title: 'second', blockerIds: [first.id] }, ada)).issue;
    const seam = createBoardTracker(board, store);
    const why = async () => {
      const [issue] = await seam.fetchByIds([second.id]);
      return issue === undefined ? 'gone' : (whyNotCandidate(issue, tracker)?.text ?? null);
    };
    expect(await why()).toBe('it waits for BAT-1 (todo)');
    await board.move(first.id, 'done', ada);
    expect(await why()).toBe(null);
  });

  it('moves for the orchestrator and for a run along the map only, and names what is allowed', async () => {
    const { board, store } = await boardScene();
    const { issue } = await board.create({ title: 'work' }, ada);
    const { changes } = createBoardTracker(board, store);
    await expect(changes?.moveIssue(issue.id, 'done', aRun.author)).rejects.toMatchObject({
      code: 'board_move_refused',
      details: { from: 'todo', to: 'done', allowed: [] },
    });
    await changes?.moveIssue(issue.id, 'in_progress', theOrchestrator.author);
    await expect(changes?.moveIssue(issue.id, 'done', aRun.author)).rejects.toMatchObject({
      code: 'board_move_refused',
      message: expect.stringContaining('only to review or blocked'),
    });
    expect((await changes?.moveIssue(issue.id, 'Review', aRun.author))?.state).toBe('review');
  });

  it('reads in dispatch order: priority, then age', async () => {
    const { board, store, clock } = await boardScene();
    for (const [title, priority] of [
      ['low', 4],
      ['none', null],
      ['urgent', 1],
      ['later urgent', 1],
    ] as const) {
      await board.create({ title, priority }, ada);
      await clock.advance(1);
    }
    const issues = await createBoardTracker(board, store).fetchByStates(['todo']);
    expect(issues.map(({ title }) => title)).toEqual(['urgent', 'later urgent', 'low', 'none']);
  });

  it.each(['', 'bat', 'B-1', '1BAT', 'ABCDEFGHIJK', null, 7])('refuses the prefix %j', (prefix) => {
    expect(boardProfile.check({ prefix })).toMatchObject([{ key: 'tracker.provider.prefix' }]);
    expect(boardProfile.check({ prefix: 'BAT' })).toEqual([]);
  });
});
