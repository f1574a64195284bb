import { describe, expect, it } from 'vitest';
import { createBoard } from '../../src/tracker/board/board.ts';
import { createBoardEditor } from '../../src/tracker/board/board-editor.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';

async function staged() {
  const clock = new SimulatedClock();
  const store = await scratchStore(clock);
  const project = (await store.projects.ensure('test', 0)).id;
  const board = createBoard({ store, project, prefix: 'BAT', clock, chance: seededChance(1), onChange: () => {} });
  const by = { commandId: 'c1', author: { kind: 'person', name: 'ada' }, reason: 'because' } as const;
  return { board, editor: createBoardEditor(board), by };
}

describe('the issue editor of the board', () => {
  // @conforms api.21
  it('files an issue once, even if the answer is lost, and returns its identifier', async () => {
    const { board, editor, by } = await staged();
    const fields = { title: 'One', priority: 2, labels: ['a'] };
    expect(await editor.file(fields, by)).toMatchObject({ issue: 'BAT-1', created: true });
    expect(await editor.file(fields, by)).toMatchObject({ issue: 'BAT-1' });
    expect(await board.list({ statuses: [], labels: [], limit: 9 })).toHaveLength(1);
  });

  it('moves, comments and edits with author and reason in the history', async () => {
    const { board, editor, by } = await staged();
    await editor.file({ title: 'One' }, by);
    await editor.file({ title: 'Two', blocked_by: ['BAT-1'] }, { ...by, commandId: 'c2' });
    expect(await editor.move('bat-2', 'backlog', by)).toMatchObject({ issue: 'BAT-2', moved: true });
    expect(await editor.comment('BAT-2', 'Mind the step.', by)).toMatchObject({ issue: 'BAT-2', seq: 1 });
    expect(await editor.edit('BAT-2', { title: 'Three', blocked_by: [] }, by)).toBe('BAT-2');
    const { id } = await board.find('BAT-2');
    const { issue, history, comments } = await board.details(id);
    expect(issue).toMatchObject({ title: 'Three', status: 'backlog', blockers: [] });
    expect(comments).toMatchObject([{ body: 'Mind the step.', author: by.author }]);
    expect(history.filter(({ reason }) => reason === 'because').map(({ field }) => field)).toEqual(
      expect.arrayContaining(['status', 'title']),
    );
  });

  it.each([
    ['a move that is not in the transition table', 'review', 'board_move_refused'],
    ['a status that there is not', 'shipped', 'board_move_refused'],
  ])('refuses %s', async (_what, to, code) => {
    const { editor, by } = await staged();
    await editor.file({ title: 'One' }, by);
    await expect(editor.move('BAT-1', to, by)).rejects.toMatchObject({ code });
  });

  it('refuses unknown issues and unknown fields', async () => {
    const { editor, by } = await staged();
    await expect(editor.move('BAT-9', 'done', by)).rejects.toMatchObject({ code: 'tracker_issue_not_found' });
    await expect(editor.file({ title: 'One', colour: 'red' }, by)).rejects.toMatchObject({
      code: 'board_issue_invalid',
    });
  });
});
