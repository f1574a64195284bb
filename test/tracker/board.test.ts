import { describe, expect, it } from 'vitest';
import { ada, aRun, boardScene, theOrchestrator } from './board-scene.ts';

describe('creating an issue', () => {
  it('numbers it in the project, and its history begins with the whole issue', async () => {
    const { board, changes } = await boardScene();
    const first = (await board.create({ title: '  First  ' }, ada)).issue;
    const { issue, created } = await board.create(
      {
        title: 'Second',
        description: 'text',
        priority: 2,
        labels: ['Bug', ' bug', 'ui'],
        parentId: first.id,
        blockerIds: [first.id],
        branch: 'feature/x',
        url: 'https://example.invalid/1',
      },
      { ...ada, reason: 'wanted' },
    );
    expect([first.identifier, first.title, first.status]).toEqual(['BAT-1', 'First', 'todo']);
    expect(created).toBe(true);
    expect(issue).toMatchObject({ identifier: 'BAT-2', labels: ['bug', 'ui'], parentId: first.id });
    const { history, parent } = await board.details(issue.id);
    expect(parent?.identifier).toBe('BAT-1');
    expect(history).toMatchObject([
      {
        field: 'created',
        from: null,
        to: {
          title: 'Second',
          description: 'text',
          status: 'todo',
          priority: 2,
          labels: ['bug', 'ui'],
          parent: 'BAT-1',
          branch: 'feature/x',
          url: 'https://example.invalid/1',
          blocked_by: ['BAT-1'],
        },
        author: ada.author,
        reason: 'wanted',
      },
    ]);
    expect(changes()).toBe(2);
  });

  it('is idempotent by client key: the second time returns the first issue, without history or wake-up', async () => {
    const { board, changes } = await boardScene();
    const first = await board.create({ title: 'One', clientKey: 'k' }, ada);
    const again = await board.create({ title: 'Other', clientKey: 'k' }, ada);
    expect(again).toEqual({ issue: first.issue, created: false });
    expect((await board.details(first.issue.id)).history).toHaveLength(1);
    expect(changes()).toBe(1);
  });

  it.each([
    ['a blank title', { title: ' \t ' }, 'title'],
    ['a title of two lines', { title: 'a\nb' }, 'title'],
    ['a long title', { title: 'x'.repeat(501) }, 'title'],
    ['a title with NUL', { title: 'a\0b' }, 'title'],
    ['half a character', { title: 'ok', description: '\ud800' }, 'description'],
    ['a description of more than 256 KiB', { title: 'ok', description: 'ä'.repeat(128 * 1024 + 1) }, 'description'],
    ['priority 0', { title: 'ok', priority: 0 }, 'priority'],
    ['priority 5', { title: 'ok', priority: 5 }, 'priority'],
    ['priority 1.5', { title: 'ok', priority: 1.5 }, 'priority'],
    ['51 labels', { title: 'ok', labels: Array.from({ length: 51 }, (_, index) => `l${index}`) }, 'labels'],
    ['a script as address', { title: 'ok', url: 'javascript:alert(1)' }, 'url'],
    ['an option as branch', { title: 'ok', branch: '--force' }, 'branch'],
    ['a branch outside', { title: 'ok', branch: 'a..b' }, 'branch'],
    ['a blank key', { title: 'ok', clientKey: ' ' }, 'clientKey'],
  ])('refuses %s and names the field', async (_what, issue, field) => {
    const { board, changes } = await boardScene();
    await expect(board.create(issue, ada)).rejects.toMatchObject({
      code: 'board_issue_invalid',
      details: { problems: expect.arrayContaining([expect.objectContaining({ problem: 'invalid_field', field })]) },
    });
    expect(await board.list({ statuses: [], labels: [], limit: 10 })).toEqual([]);
    expect(changes()).toBe(0);
  });

  it('refuses an unknown parent or blocker, and a first status beyond todo from an agent', async () => {
    const { board } = await boardScene();
    await expect(board.create({ title: 'x', parentId: 'nobody' }, ada)).rejects.toMatchObject({
      code: 'tracker_issue_not_found',
    });
    await expect(board.create({ title: 'x', blockerIds: ['nobody'] }, ada)).rejects.toMatchObject({
      code: 'tracker_issue_not_found',
    });
    await expect(board.create({ title: 'x', status: 'done' }, aRun)).rejects.toMatchObject({
      code: 'board_move_refused',
      details: { allowed: ['backlog', 'todo'] },
    });
  });
});

describe('changing an issue', () => {
  it('writes one history entry per changed field, with author, time and reason, and none for unchanged fields', async () => {
    const { board, clock, changes } = await boardScene();
    const { issue } = await board.create({ title: 'Old', labels: ['b', 'a'], priority: 1 }, ada);
    await clock.advance(1_000);
    const edit = { title: 'New', labels: ['A', 'B'], priority: null };
    const edited = await board.edit(issue.id, edit, { ...ada, reason: 'better' });
    expect(edited).toMatchObject({ title: 'New', priority: null, updatedAt: clock.now() });
    const { history } = await board.details(issue.id);
    const at = clock.now();
    expect(history.slice(1)).toMatchObject([
      { field: 'title', from: 'Old', to: 'New', author: ada.author, at, reason: 'better' },
      { field: 'priority', from: 1, to: null, author: ada.author, at, reason: 'better' },
    ]);
    expect(changes()).toBe(2);
    await board.edit(issue.id, edit, ada);
    expect((await board.details(issue.id)).history).toHaveLength(3);
    expect(changes()).toBe(2);
  });

  it('moves along the transition table, and writes no history for the same status', async () => {
    const { board, changes } = await boardScene();
    const { issue } = await board.create({ title: 'x' }, ada);
    await board.move(issue.id, 'in_progress', theOrchestrator);
    await board.move(issue.id, 'review', { ...aRun, reason: 'the change is ready' });
    await board.move(issue.id, 'review', ada);
    await expect(board.move(issue.id, 'backlog', ada)).rejects.toMatchObject({
      code: 'board_move_refused',
      details: { identifier: 'BAT-1', from: 'review', to: 'backlog', allowed: ['todo', 'done', 'cancelled'] },
    });
    expect((await board.move(issue.id, 'done', ada)).status).toBe('done');
    const { history } = await board.details(issue.id);
    expect(history.slice(1).map(({ from, to, author, reason }) => [from, to, author.kind, reason])).toEqual([
      ['todo', 'in_progress', 'orchestrator', null],
      ['in_progress', 'review', 'run', 'the change is ready'],
      ['review', 'done', 'person', null],
    ]);
    expect(changes()).toBe(4);
  });

  it('blocks and unblocks, each once', async () => {
    const { board } = await boardScene();
    const [a, b] = [(await board.create({ title: 'a' }, ada)).issue, (await board.create({ title: 'b' }, ada)).issue];
    await board.block(a.id, b.id, ada);
    expect((await board.block(a.id, b.id, ada)).blockers).toEqual([{ id: b.id, identifier: 'BAT-2', status: 'todo' }]);
    expect((await board.details(b.id)).blocks.map(({ identifier }) => identifier)).toEqual(['BAT-1']);
    await board.unblock(a.id, b.id, ada);
    expect((await board.unblock(a.id, b.id, ada)).blockers).toEqual([]);
    expect((await board.details(a.id)).history.slice(1)).toMatchObject([
      { field: 'blocked_by', from: [], to: ['BAT-2'] },
      { field: 'blocked_by', from: ['BAT-2'], to: [] },
    ]);
  });

  it('refuses an issue that would wait for itself, and names the cycle', async () => {
    const { board, changes } = await boardScene();
    const ids: string[] = [];
    for (const title of ['a', 'b', 'c']) ids.push((await board.create({ title }, ada)).issue.id);
    const [a = '', b = '', c = ''] = ids;
    await expect(board.block(a, a, ada)).rejects.toMatchObject({
      code: 'board_cycle',
      details: { cycle: ['BAT-1', 'BAT-1'] },
    });
    await board.block(a, b, ada);
    await board.block(b, c, ada);
    const before = changes();
    await expect(board.block(c, a, ada)).rejects.toMatchObject({
      code: 'board_cycle',
      details: { links: 'blockers', cycle: ['BAT-3', 'BAT-1', 'BAT-2', 'BAT-3'] },
    });
    expect((await board.details(c)).issue.blockers).toEqual([]);
    expect(changes()).toBe(before);
  });

  it('refuses the issue itself or its descendant as a parent', async () => {
    const { board } = await boardScene();
    const a = (await board.create({ title: 'a' }, ada)).issue;
    const b = (await board.create({ title: 'b', parentId: a.id }, ada)).issue;
    await expect(board.edit(a.id, { parentId: a.id }, ada)).rejects.toMatchObject({ code: 'board_cycle' });
    await expect(board.edit(a.id, { parentId: b.id }, ada)).rejects.toMatchObject({
      code: 'board_cycle',
      details: { links: 'parents', cycle: ['BAT-1', 'BAT-2', 'BAT-1'] },
    });
    await board.edit(b.id, { parentId: null }, ada);
    await board.edit(a.id, { parentId: b.id }, ada);
    expect((await board.details(a.id)).parent?.identifier).toBe('BAT-2');
    expect((await board.details(b.id)).children.map(({ identifier }) => identifier)).toEqual(['BAT-1']);
  });

  it('keeps comments with their author, and refuses blank and oversized ones', async () => {
    const { board, changes } = await boardScene();
    const { issue } = await board.create({ title: 'x' }, ada);
    await board.comment(issue.id, 'first', ada.author);
    await board.comment(issue.id, 'second', aRun.author);
    expect((await board.details(issue.id)).comments).toMatchObject([
      { body: 'first', author: ada.author },
      { body: 'second', author: aRun.author },
    ]);
    expect(changes()).toBe(3);
    for (const body of ['  ', 'x'.repeat(64 * 1024 + 1)]) {
      await expect(board.comment(issue.id, body, ada.author)).rejects.toMatchObject({ code: 'board_issue_invalid' });
    }
    expect(changes()).toBe(3);
  });
});

describe('finding an issue', () => {
  it.each(['BAT-12', 'bat-12', ' 12 '])('accepts %j', async (name) => {
    const { board } = await boardScene();
    for (let number = 1; number <= 12; number += 1) await board.create({ title: `${number}` }, ada);
    expect((await board.find(name)).title).toBe('12');
  });

  it.each([
    ['BTA-3', ['BAT-3', 'BAT-12', 'BAT-11']],
    ['BAT-112', ['BAT-12', 'BAT-11', 'BAT-10']],
    ['what', ['BAT-12', 'BAT-11', 'BAT-10']],
  ])('suggests the nearest issues for %j', async (name, nearest) => {
    const { board } = await boardScene();
    for (let number = 1; number <= 12; number += 1) await board.create({ title: `${number}` }, ada);
    await expect(board.find(name)).rejects.toMatchObject({
      code: 'tracker_issue_not_found',
      details: { name, nearest },
    });
  });

  it('suggests nothing when the board is empty', async () => {
    const { board } = await boardScene();
    await expect(board.find('BAT-1')).rejects.toMatchObject({
      code: 'tracker_issue_not_found',
      details: { name: 'BAT-1', nearest: [] },
    });
  });
});

describe('reading the board', () => {
  it('lists by status and labels across pages, up to the limit', async () => {
    const { board, clock } = await boardScene();
    for (let number = 1; number <= 450; number += 1) {
      const status = number % 2 === 0 ? 'backlog' : 'todo';
      await board.create({ title: `${number}`, status, labels: number === 1 ? ['rare'] : [] }, ada);
      await clock.advance(1);
    }
    const all = await board.list({ statuses: [], labels: [], limit: 1_000 });
    expect(all).toHaveLength(450);
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['backlog', 'todo']));
    expect((await board.list({ statuses: ['todo'], labels: ['RARE'], limit: 5 })).map(({ title }) => title)).toEqual([
      '1',
    ]);
    const newest = await board.list({ statuses: ['todo'], labels: [], limit: 2 });
    expect(newest.map(({ title }) => title)).toEqual(['449', '447']);
    expect((await board.columns(3)).map(({ status, count, issues }) => [status, count, issues.length])).toEqual([
      ['backlog', 225, 3],
      ['todo', 225, 3],
      ['in_progress', 0, 0],
      ['review', 0, 0],
      ['done', 0, 0],
      ['blocked', 0, 0],
      ['cancelled', 0, 0],
    ]);
  });
});
