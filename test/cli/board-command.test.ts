import { describe, expect, it } from 'vitest';
import { cut, padded, widthOf, wrapped } from '../../src/cli/cell-text.ts';
import { ada } from '../tracker/board-scene.ts';
import { type BoardProgram, boardProgram } from './board-program.ts';

async function filled(): Promise<BoardProgram> {
  const program = await boardProgram();
  const { board, scene } = program;
  const titles = [
    'Make the login page work again on phones',
    '日本語のタイトルはとても長いので切られます',
    'Third',
    'Fourth',
  ];
  const ids: string[] = [];
  for (const title of titles) {
    ids.push((await board.create({ title, priority: title === 'Third' ? 1 : null }, ada)).issue.id);
    await scene.clock.advance(1);
  }
  const [first = '', second = '', , fourth = ''] = ids;
  await board.block(second, first, ada);
  await board.move(fourth, 'done', ada);
  return program;
}

describe('baton board', () => {
  it('is shown in columns if the terminal is wide enough', async () => {
    const program = await filled();
    program.terminal = { isTTY: true, columns: 50 };
    expect((await program.run('board', '--limit', '2')).out.split('\n')).toEqual([
      'todo (3)                  done (1)',
      '────────────────────────  ────────────────────────',
      'BAT-2                     BAT-4',
      '日本語のタイトルはとて…   Fourth',
      expect.stringMatching(/^\S.* BAT-1$/),
      '',
      'BAT-3 P1',
      'Third',
      '',
      expect.stringMatching(/^… 1 /),
      '',
    ]);
  });

  it('keeps every line within the width of the terminal', async () => {
    const program = await filled();
    for (let columns = 38; columns <= 200; columns += 9) {
      program.terminal = { isTTY: true, columns };
      const lines = (await program.run('board')).out.split('\n');
      expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
    }
  });

  it.each([{ isTTY: true, columns: 30 }, {}])('is a list in %j', async (terminal) => {
    const program = await filled();
    program.terminal = terminal;
    expect((await program.run('board')).out.split('\n')).toEqual([
      'todo (3)',
      expect.stringMatching(/^ {2}BAT-2 {2}日本語のタイトルはとても長いので切られます \(.* BAT-1\)$/),
      '  BAT-3 P1  Third',
      '  BAT-1  Make the login page work again on phones',
      '',
      'done (1)',
      '  BAT-4  Fourth',
      '',
    ]);
  });

  it('says how to start when it is empty', async () => {
    const { run } = await boardProgram();
    expect((await run('board')).out).toContain('baton issue add');
  });

  it('has every column with its count in JSON', async () => {
    const { run } = await filled();
    const { columns } = JSON.parse((await run('board', '--limit', '1', '--json')).out);
    expect(
      columns.map((column: { status: string; count: number; issues: unknown[] }) => [
        column.status,
        column.count,
        column.issues.length,
      ]),
    ).toEqual([
      ['backlog', 0, 0],
      ['todo', 3, 1],
      ['in_progress', 0, 0],
      ['review', 0, 0],
      ['done', 1, 1],
      ['blocked', 0, 0],
      ['cancelled', 0, 0],
    ]);
  });
});

describe('the width of text in a terminal', () => {
  it.each([
    ['abc', 3],
    ['日本', 4],
    ['한글', 4],
    ['é', 1],
    ['🚀', 2],
    ['', 0],
  ])('%j takes %i cells', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it('cuts, pads and wraps by cells', () => {
    expect(cut('abcdef', 4)).toBe('abc…');
    expect(cut('日本語', 4)).toBe('日…');
    expect(cut('abc', 0)).toBe('');
    expect(padded('日本', 6)).toBe('日本  ');
    expect(wrapped('one two three four', 8, 2)).toEqual(['one two', 'three f…']);
    expect(wrapped('unbreakable', 5, 2)).toEqual(['unbre', 'akab…']);
    expect(wrapped('', 5, 2)).toEqual([]);
  });
});
