import { describe, expect, it } from 'vitest';
import { whyNotCandidate } from '../../src/core/dispatch/eligibility.ts';
import type { BoardStatus } from '../../src/core/issue/board-status.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { Board } from '../../src/tracker/board/board.ts';
import { createBoardTracker } from '../../src/tracker/board/board-tracker.ts';
import { readImport } from '../../src/tracker/board/import/read-import.ts';
import type { ChangeBy } from '../../src/tracker/board/issue-fields.ts';
import { boardProfile } from '../../src/tracker/board/profile.ts';
import { trackerConformance } from '../conformance/tracker.ts';
import { settings } from '../fake/settings.ts';
import { ada, aRun, boardScene, openScene, theOrchestrator } from './board-scene.ts';

trackerConformance(
  'the board',
  async (issues) => {
    const { board, store, clock, close } = await openScene();
    let failing = false;
    // The store itself chooses the ids, so that the suite can name the issues.
    for (const { id, title, description, priority, state, labels, branchName, url, blockedBy } of issues) {
      const blockerIds = blockedBy.map((blocker) => blocker.id ?? '');
      const fields = { title, description, priority, labels, branch: branchName, url, blockerIds };
      const draft = { ...fields, id, status: state as BoardStatus, prefix: 'T', parentId: null, clientKey: null };
      await store.boardIssues.create(board.project, draft, clock.now());
    }
    const breaking = {
      ...store,
      boardComments: {
        ...store.boardComments,
        list: async (...query: Parameters<typeof store.boardComments.list>) => {
          if (failing) throw new Error('the disk is on fire');
          return store.boardComments.list(...query);
        },
      },
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
      comment: async (id, body) => void (await board.comment(id, body, ada.author)),
      remove: null,
      requests: () => null,
      fail: (wanted) => {
        failing = wanted;
      },
      dispose: close,
    };
  },
  {
    todo: 'todo',
    active: 'in_progress',
    done: 'done',
    blocked: 'blocked',
    movableByRun: { from: 'in_progress', to: 'review' },
  },
);

describe('a repeated read of a board', () => {
  const active = ['todo', 'in_progress'];

  it('gives the same issues while nothing changes, and asks nothing of each', async () => {
    const { board, store } = await boardScene();
    for (const title of ['first', 'second']) await board.create({ title }, ada);
    const asked = { histories: 0 };
    const list = (...query: Parameters<typeof store.boardHistory.list>) => {
      asked.histories += 1;
      return store.boardHistory.list(...query);
    };
    const tracker = createBoardTracker(board, { ...store, boardHistory: { ...store.boardHistory, list } });
    const before = await tracker.fetchByStates(active);
    expect(asked.histories).toBe(2);
    const after = await tracker.fetchByStates(active);
    expect(asked.histories).toBe(2);
    expect(after).toHaveLength(2);
    for (const [at, issue] of after.entries()) expect(issue).toBe(before[at]);
  });

  it('gives every change: of a text, a label, a blocker and the state of a blocker, and of another process', async () => {
    const { board, store, url, clock } = await boardScene();
    const tracker = createBoardTracker(board, store);
    const { issue: blocker } = await board.create({ title: 'blocker' }, ada);
    const { issue } = await board.create({ title: 'first' }, ada);
    const { issue: other } = await board.create({ title: 'other' }, ada);
    const read = async () => {
      const found = await tracker.fetchByStates(active);
      return { ...found.find(({ id }) => id === issue.id), other: found.find(({ id }) => id === other.id) };
    };
    const { other: unchanged } = await read();
    await board.relabel(issue.id, { add: ['ui'], remove: [] }, ada);
    expect(await read()).toMatchObject({ labels: ['ui'] });
    await store.boardIssues.addBlocker({ project: board.project, issueId: issue.id }, blocker.id);
    expect(await read()).toMatchObject({ blockedBy: [{ id: blocker.id, state: 'todo' }] });
    await board.move(blocker.id, 'done', ada);
    expect(await read()).toMatchObject({ blockedBy: [{ id: blocker.id, state: 'done' }] });
    await using visitor = await openStore({ url, clock, mode: 'visitor' });
    await visitor.boardIssues.update({ project: board.project, issueId: issue.id }, { title: 'new' }, clock.now());
    const last = await read();
    expect(last.title).toBe('new');
    expect(last.other).toBe(unchanged);
  });
});

describe('the board as a tracker', () => {
  it('reports unreadable comments as a tracker that did not answer', async () => {
    const { board, store } = await boardScene();
    const { issue } = await board.create({ title: 'first' }, ada);
    const list = () => Promise.reject(new Error('the disk is on fire'));
    const seam = createBoardTracker(board, { ...store, boardComments: { ...store.boardComments, list } });
    await expect(seam.fetchComments?.(issue.id)).rejects.toMatchObject({
      code: 'tracker_request',
      message: expect.stringContaining('the disk is on fire'),
    });
  });

  it('lists comments of people on this machine under one name, and those of a run or Baton under none', async () => {
    const { board, store } = await boardScene();
    const { issue } = await board.create({ title: 'first' }, ada);
    for (const { author } of [ada, aRun, theOrchestrator]) await board.comment(issue.id, 'x', author);
    const { comments } = (await createBoardTracker(board, store).fetchComments?.(issue.id)) ?? {};
    expect(comments).toMatchObject([
      { author: 'ada', authorNames: ['local'] },
      { author: expect.stringContaining('run-1'), authorNames: [] },
      { author: 'Baton', authorNames: [] },
    ]);
  });

  const tracker = settings({
    tracker: {
      kind: 'board',
      activeStates: boardProfile.defaultActiveStates ?? [],
      terminalStates: boardProfile.defaultTerminalStates ?? [],
    },
  }).tracker;

  it('does not let a todo issue start until its blockers are finished', async () => {
    const { board, store } = await boardScene();
    const first = (await board.create({ title: 'first' }, ada)).issue;
    const second = (await board.create({ title: 'second', blockerIds: [first.id] }, ada)).issue;
    const seam = createBoardTracker(board, store);
    const why = async () => {
      const [issue] = await seam.fetchByIds([second.id]);
      return issue === undefined ? 'gone' : whyNotCandidate(issue, tracker);
    };
    expect(await why()).toMatchObject({ code: 'blocked', text: expect.stringContaining('BAT-1') });
    await board.move(first.id, 'done', ada);
    expect(await why()).toBe(null);
  });

  it('moves for the orchestrator and for a run only along the transition table, and names the allowed moves', async () => {
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
      details: { from: 'in_progress', to: 'done', allowed: ['review', 'blocked'] },
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

  describe('the author of an issue', () => {
    const authors = async (act: (board: Board) => Promise<string>, read: 'ids' | 'states' | 'move' = 'ids') => {
      const { board, store } = await boardScene();
      const id = await act(board);
      const seam = createBoardTracker(board, store);
      if (read === 'move')
        return (await seam.changes?.moveIssue(id, 'in_progress', theOrchestrator.author))?.authorNames;
      const found = read === 'ids' ? await seam.fetchByIds([id]) : await seam.fetchByStates(['todo', 'backlog']);
      return found.find((issue) => issue.id === id)?.authorNames;
    };
    const filed = async (board: Board, by: ChangeBy = ada): Promise<string> =>
      (await board.create({ title: 'a', status: by === ada ? 'todo' : 'backlog' }, by)).issue.id;

    it.each(['ids', 'states', 'move'] as const)('is a person on this machine, read by %s', async (read) => {
      expect(await authors((board) => filed(board), read)).toEqual(['local']);
    });

    it('is no one when a run filed it', async () => {
      expect(await authors((board) => filed(board, aRun))).toEqual([]);
      expect(await authors((board) => filed(board, theOrchestrator))).toEqual([]);
    });

    // @conforms tools.12
    it('is no one after a run wrote its title or description, until a person has rewritten both', async () => {
      const { board, store } = await boardScene();
      const id = await filed(board);
      const seam = createBoardTracker(board, store);
      const now = async () => (await seam.fetchByIds([id]))[0]?.authorNames;
      expect(await now()).toEqual(['local']);
      await board.edit(id, { description: 'by a run' }, aRun);
      expect(await now()).toEqual([]);
      await board.edit(id, { title: 'by a person', priority: 2 }, ada);
      expect(await now()).toEqual([]);
      await board.edit(id, { description: 'by a person' }, ada);
      expect(await now()).toEqual(['local']);
      await board.edit(id, { labels: ['x'] }, aRun);
      await board.move(id, 'in_progress', theOrchestrator);
      expect(await now()).toEqual(['local']);
    });

    it('is a person when they imported it', async () => {
      const { board, store } = await boardScene();
      const { created } = await board.import(readImport(Buffer.from('- [ ] from a list\n'), 'markdown'), ada);
      const [issue] = await createBoardTracker(board, store).fetchByIds(created.map(({ id }) => id));
      expect(issue?.authorNames).toEqual(['local']);
    });

    it('is found with one read of the history for each text', async () => {
      const { board, store } = await boardScene();
      const id = await filed(board);
      let reads = 0;
      const list: Store['boardHistory']['list'] = (key) => {
        reads += 1;
        return store.boardHistory.list(key);
      };
      const seam = createBoardTracker(board, { ...store, boardHistory: { ...store.boardHistory, list } });
      for (let poll = 0; poll < 5; poll += 1) await seam.fetchByStates(['todo']);
      await board.move(id, 'in_progress', theOrchestrator);
      await seam.fetchByIds([id]);
      expect(reads).toBe(1);
    });

    it('is an error when the history cannot be read', async () => {
      const { board, store } = await boardScene();
      await filed(board);
      const list = async (): Promise<never> => Promise.reject(new Error('the disk is on fire'));
      const seam = createBoardTracker(board, { ...store, boardHistory: { ...store.boardHistory, list } });
      await expect(seam.fetchByStates(['todo'])).rejects.toMatchObject({ code: 'tracker_request' });
    });
  });

  it.each(['', 'bat', 'B-1', '1BAT', 'ABCDEFGHIJK', null, 7])('refuses the prefix %j', (prefix) => {
    expect(boardProfile.check({ prefix })).toMatchObject([{ key: 'tracker.provider.prefix' }]);
    expect(boardProfile.check({ prefix: 'BAT' })).toEqual([]);
  });
});
