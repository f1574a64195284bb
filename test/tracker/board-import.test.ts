import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { type ImportFormat, readImport } from '../../src/tracker/board/import/read-import.ts';
import { ada, aRun, boardScene } from './board-scene.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const jsonl = (...entries: unknown[]): Uint8Array => bytes(entries.map((entry) => JSON.stringify(entry)).join('\n'));

const everything = { statuses: [], labels: [], limit: 1_000 };

function refusalOf(file: Uint8Array, format: ImportFormat): BatonError {
  try {
    readImport(file, format);
  } catch (error) {
    if (error instanceof BatonError) return error;
    throw error;
  }
  throw new Error('The file was not refused');
}

/** The problems of a file, without their messages. */
function problemsOf(file: Uint8Array, format: ImportFormat): Record<string, unknown>[] {
  const { code, details } = refusalOf(file, format);
  expect(code).toBe('board_import_invalid');
  const { problems } = details as { problems: Record<string, unknown>[] };
  return problems.map(({ message: _message, ...data }) => data);
}

describe('JSON lines', () => {
  it('may be one array, whose items count as lines', async () => {
    const { board } = await boardScene();
    const items = [{ title: 'One', blocked_by: ['Two'] }, { title: 'Two' }];
    const { created } = await board.import(readImport(bytes(JSON.stringify(items, null, 2)), 'jsonl'), ada);
    expect(created.map(({ title }) => title)).toEqual(['One', 'Two']);
    expect(problemsOf(bytes(JSON.stringify([...items, 3])), 'jsonl')).toEqual([{ line: 3, problem: 'not_an_object' }]);
  });

  it('creates every issue with its links, in the order of the file, in either direction of the links', async () => {
    const { board, changes } = await boardScene();
    await board.create({ title: 'there' }, ada);
    const file = jsonl(
      { title: 'One', blocked_by: ['two', 'BAT-1'], parent: 'Three', priority: 1, labels: ['A'] },
      { title: 'Two', key: 'two', status: 'In Progress', description: 'text' },
      { title: 'Three', url: 'https://example.invalid', branch: 'b', status: 'backlog' },
    );
    const { created, known } = await board.import(readImport(file, 'jsonl'), { ...ada, reason: 'moved here' });
    expect(known).toEqual([]);
    expect(created.map(({ identifier, title, status }) => [identifier, title, status])).toEqual([
      ['BAT-2', 'One', 'todo'],
      ['BAT-3', 'Two', 'in_progress'],
      ['BAT-4', 'Three', 'backlog'],
    ]);
    const { history, parent, issue } = await board.details(created[0]?.id ?? '');
    expect(parent?.identifier).toBe('BAT-4');
    expect(issue.blockers.map(({ identifier }) => identifier).toSorted()).toEqual(['BAT-1', 'BAT-3']);
    expect(history).toMatchObject([
      { field: 'created', to: { parent: 'BAT-4', blocked_by: ['BAT-1', 'BAT-3'] }, reason: 'moved here' },
    ]);
    expect(changes()).toBe(2);
  });

  it('creates nothing the second time, and keeps later changes', async () => {
    const { board, changes } = await boardScene();
    const file = jsonl({ title: 'One', blocked_by: ['Two'] }, { title: 'Two' });
    const first = await board.import(readImport(file, 'jsonl'), ada);
    await board.unblock(first.created[0]?.id ?? '', first.created[1]?.id ?? '', ada);
    const before = changes();
    const second = await board.import(readImport(file, 'jsonl'), ada);
    expect(second.created).toEqual([]);
    expect(second.known.map(({ identifier, blockers }) => [identifier, blockers])).toEqual([
      ['BAT-1', []],
      ['BAT-2', []],
    ]);
    expect(await board.list(everything)).toHaveLength(2);
    expect(changes()).toBe(before);
  });

  it('creates only the new issues of a longer file, linked to the existing ones', async () => {
    const { board } = await boardScene();
    await board.import(readImport(jsonl({ title: 'One' }), 'jsonl'), ada);
    const grown = jsonl({ title: 'One' }, { title: 'Two', blocked_by: ['One'] });
    const { created, known } = await board.import(readImport(grown, 'jsonl'), ada);
    expect(known.map(({ identifier }) => identifier)).toEqual(['BAT-1']);
    expect(created[0]).toMatchObject({ identifier: 'BAT-2', blockers: [{ identifier: 'BAT-1' }] });
  });

  it('names every problem with its line', () => {
    const lines = [
      '{"title": "ok"}',
      '',
      'nonsense',
      '[1]',
      '{"title": " ", "priority": 9}',
      '{"title": "x", "prio": 1}',
    ];
    expect(problemsOf(bytes(lines.join('\r\n')), 'jsonl')).toEqual([
      { line: 3, problem: 'not_an_object' },
      { line: 4, problem: 'not_an_object' },
      { line: 5, problem: 'invalid_field', field: 'title' },
      { line: 5, problem: 'invalid_field', field: 'priority' },
      { line: 6, problem: 'unknown_field', field: 'prio' },
    ]);
  });

  // The entries follow a valid one, which is line 1.
  it.each<[string, unknown[], object]>([
    [
      'a key twice',
      [
        { title: 'a', key: 'k' },
        { title: 'b', key: 'k' },
      ],
      { line: 3, problem: 'key_twice', name: 'k', first_line: 2 },
    ],
    ['a title twice', [{ title: 'a' }, { title: 'a' }], { line: 3, problem: 'title_twice', name: 'a', first_line: 2 }],
    [
      'an unknown blocker',
      [{ title: 'a', blocked_by: ['BAT-77'] }],
      { line: 2, problem: 'unknown_issue', name: 'BAT-77' },
    ],
    ['an unknown parent', [{ title: 'a', parent: 'zz' }], { line: 2, problem: 'unknown_issue', name: 'zz' }],
    [
      'itself as a blocker',
      [{ title: 'a', blocked_by: ['a'] }],
      { line: 2, problem: 'blocker_cycle', cycle: ['a', 'a'] },
    ],
    [
      'a cycle of blockers',
      [
        { title: 'a', blocked_by: ['b'] },
        { title: 'b', blocked_by: ['c'] },
        { title: 'c', blocked_by: ['a'] },
      ],
      { line: 2, problem: 'blocker_cycle', cycle: ['a', 'b', 'c', 'a'] },
    ],
    [
      'a cycle of parents',
      [
        { title: 'a', parent: 'b' },
        { title: 'b', parent: 'a' },
      ],
      { line: 2, problem: 'parent_cycle', cycle: ['a', 'b', 'a'] },
    ],
    [
      'a title that two have',
      [
        { title: 'a', key: '1' },
        { title: 'a', key: '2' },
        { title: 'b', blocked_by: ['a'] },
      ],
      { line: 4, problem: 'title_of_several', name: 'a', count: 2 },
    ],
  ])('refuses %s and imports nothing', async (_what, entries, problem) => {
    const { board, changes } = await boardScene();
    const read = readImport(jsonl({ title: 'good' }, ...entries), 'jsonl');
    await expect(board.import(read, ada)).rejects.toMatchObject({
      code: 'board_import_invalid',
      details: { problems: [problem] },
    });
    expect(await board.list(everything)).toEqual([]);
    expect(changes()).toBe(0);
  });

  it('lets an agent import only issues that are still to be done', async () => {
    const { board } = await boardScene();
    const read = readImport(jsonl({ title: 'a', status: 'done' }), 'jsonl');
    await expect(board.import(read, aRun)).rejects.toMatchObject({
      code: 'board_import_invalid',
      details: {
        problems: [{ line: 1, problem: 'status_not_allowed', status: 'done', allowed: ['backlog', 'todo'] }],
      },
    });
  });
});

describe('Markdown', () => {
  it('has an issue for each heading; task lists below it are part of the description', async () => {
    const { board } = await boardScene();
    const text = `# The plan

Nobody's text.

## First thing ##
Labels: Bug, ui
Priority: 2

It is broken.

- [ ] a criterion
### Notes
    Labels: no

\`\`\`
## not a heading
Priority: 9
\`\`\`

## Second thing
Blocked by: First thing, k3

## Third
Key: k3
Status: backlog
Parent: First thing
`;
    const { created } = await board.import(readImport(bytes(text), 'markdown'), ada);
    expect(created.map(({ title, status, priority, labels }) => [title, status, priority, labels])).toEqual([
      ['First thing', 'todo', 2, ['bug', 'ui']],
      ['Second thing', 'todo', null, []],
      ['Third', 'backlog', null, []],
    ]);
    expect(created[0]?.description).toBe(
      'It is broken.\n\n- [ ] a criterion\n### Notes\n    Labels: no\n\n```\n## not a heading\nPriority: 9\n```',
    );
    expect(created[1]?.description).toBe(null);
    expect(created[1]?.blockers.map(({ identifier }) => identifier)).toEqual(['BAT-1', 'BAT-3']);
    expect(created[2]?.parentId).toBe(created[0]?.id);
  });

  it('has an issue for each task when there are no headings; a ticked task is done', async () => {
    const { board } = await boardScene();
    const text = `Some words first.

- [x] Set up
- [ ] Build it
  Priority: 1
  Blocked by: Set up

  With care.
    - [ ] a part
* [ ] Ship it
# Later
Not an issue's text.
`;
    const { created } = await board.import(readImport(bytes(text), 'markdown'), ada);
    expect(created.map(({ title, status, priority, description }) => [title, status, priority, description])).toEqual([
      ['Set up', 'done', null, null],
      ['Build it', 'todo', 1, 'With care.\n  - [ ] a part'],
      ['Ship it', 'todo', null, null],
    ]);
  });

  it('is the same issue in either format, by its title', async () => {
    const { board } = await boardScene();
    await board.import(readImport(bytes('- [ ] Same'), 'markdown'), ada);
    const { created, known } = await board.import(readImport(jsonl({ title: 'Same' }), 'jsonl'), ada);
    expect([created.length, known.length]).toEqual([0, 1]);
  });

  it('names the line of a wrong or repeated field', () => {
    const text = '## A\n\nPriority: high\n\n## B\nStatus: nirvana\nLabels: a\nLabels: b\n\n##  \n';
    expect(problemsOf(bytes(text), 'markdown')).toEqual([
      { line: 3, problem: 'invalid_field', field: 'priority' },
      { line: 6, problem: 'invalid_field', field: 'status' },
      { line: 8, problem: 'field_twice', field: 'labels', first_line: 7 },
      { line: 10, problem: 'invalid_field', field: 'title' },
    ]);
  });
});

describe('invalid input', () => {
  const tooLarge = new Uint8Array(10 * 1024 * 1024 + 1);
  it.each<[string, Uint8Array, ImportFormat, object]>([
    ['an empty file', bytes(''), 'jsonl', { problems: [{ line: 1, problem: 'no_issue' }] }],
    ['blank lines', bytes('\n \n'), 'markdown', { problems: [{ line: 1, problem: 'no_issue' }] }],
    ['text without an issue', bytes('# Title\n\ntext\n'), 'markdown', { problems: [{ problem: 'no_issue' }] }],
    ['bytes that are no UTF-8', new Uint8Array([0xff, 0xfe, 0x00]), 'jsonl', { problem: 'not_utf8' }],
    ['NUL in a title', bytes('## a\0b'), 'markdown', { problems: [{ field: 'title' }, { field: 'title' }] }],
    ['more than 10 MB', tooLarge, 'jsonl', { problem: 'too_large', most_bytes: 10 * 1024 * 1024 }],
    [
      'more than 5,000 issues',
      bytes('- [ ] x\n'.repeat(5_001)),
      'markdown',
      { problems: [{ line: 5_001, problem: 'too_many_issues', most: 5_000 }] },
    ],
    [
      'half of a JSON array',
      bytes('[\n{"title": "x"}'),
      'jsonl',
      { problems: [{ line: 1, problem: 'not_an_object' }] },
    ],
  ])('refuses %s', (_what, file, format, details) => {
    expect(refusalOf(file, format)).toMatchObject({ code: 'board_import_invalid', details });
  });

  it('ignores a byte order mark', () => {
    expect(readImport(bytes('\ufeff{"title": "x"}'), 'jsonl')).toMatchObject([{ title: 'x', line: 1 }]);
  });

  it('quotes no control characters of the file', () => {
    const { message } = refusalOf(jsonl({ title: 'x', 'a\u001b[31m\u202eb': 1 }), 'jsonl');
    expect(message).toMatch(/"a\S+b"/);
    for (const steering of ['\u001b', '\u202e']) expect(message).not.toContain(steering);
  });

  it('names at most fifty problems and counts the rest', () => {
    const { message, details } = refusalOf(bytes('x\n'.repeat(80)), 'jsonl');
    expect(details).toMatchObject({
      problems: Array.from({ length: 50 }, (_, index) => ({ line: index + 1 })),
      count: 80,
    });
    expect(message).toContain('30');
  });
});
