import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { boardProgram } from './board-program.ts';

it('lets a run move its own issue, as an agent may, and change nothing else', async () => {
  const program = await boardProgram();
  const { run, board, scene } = program;
  for (const title of ['Of the run', 'Of another']) await run('issue', 'add', title);
  const { id: issueId } = await board.find('1');
  await board.move(issueId, 'in_progress', { author: { kind: 'orchestrator' } });
  const began = { generation: 1, role: 'worker', attempt: null, retryKind: null, host: 'here', startedAt: 0 };
  const key = { project: board.project, issueId, identifier: 'BAT-1' };
  await scene.store.runs.start({ ...key, ...began, runId: 'run-7', backend: 'command', account: null });
  program.runId = 'run-7';
  const refused = { code: 'command_refused', details: expect.objectContaining({ code: 'not_for_agents' }) };
  for (const words of [
    ['add', 'By an agent', '--as', 'somebody'],
    ['comment', 'BAT-1', 'Said by an agent'],
    ['edit', 'BAT-1', '--title', 'Another'],
    ['block', 'BAT-2', '--by', 'BAT-1'],
    ['move', 'BAT-2', 'backlog'],
  ])
    expect((await run('issue', ...words)).error).toMatchObject(refused);
  expect((await run('issue', 'move', 'BAT-1', 'done')).error).toMatchObject({
    code: 'board_move_refused',
    details: { allowed: ['review', 'blocked'] },
  });
  expect((await run('issue', 'move', 'bat-1', 'review')).error).toBeNull();
  const { history } = JSON.parse((await run('issue', 'show', 'BAT-1', '--json')).out);
  expect(history.at(-1)).toMatchObject({ to: 'review', author: { kind: 'run', run_id: 'run-7' } });
});

// @conforms runs.79
it('shows the question, the last run and the place of the work of an issue', async () => {
  const { run, board, scene } = await boardProgram();
  await run('issue', 'add', 'First');
  await run('issue', 'add', 'Second');
  const { id: issueId } = await board.find('1');
  const key = { project: board.project, issueId, identifier: 'BAT-1' };
  const began = { generation: 1, role: 'worker', attempt: null, retryKind: null, host: 'here', startedAt: 0 };
  await scene.store.runs.start({ ...key, ...began, runId: 'run-12345', backend: 'codex', account: null });
  const question = { kind: 'command', text: 'May I\u001b[2J?', detail: 'make', fields: [] } as const;
  for (const id of ['question-1', 'question-2'])
    await scene.store.questions.ask({ ...key, id, runId: 'run-12345', askedAt: 0, question });
  const brought = { outcome: 'published', branch: 'baton/bat-1', commit: 'abcdef0123' } as const;
  const publication = { ...brought, before: null, reason: null, elsewhere: null };
  await scene.store.runs.record('run-12345', 1, {
    evidence: { changed: true, fingerprint: null, git: null, publication },
  });
  const end = { endedAt: 1, outcome: 'failed', errorCode: 'agent_input_required' } as const;
  await scene.store.runs.finish('run-12345', 1, { ...end, errorMessage: 'Nobody was there.' });
  const { out } = await run('issue', 'show', '1');
  // Two are open: the name of the issue would not tell which one is meant.
  for (const id of ['question-1', 'question-2']) expect(out).toContain(` May I␛[2J? · baton ask show ${id}\n`);
  expect(out).toMatch(/ run-1234, 1970-01-01 00:00:00Z: .*Nobody was there\.\n/);
  expect(out).toMatch(/ baton\/bat-1 .* abcdef0 /);
  await scene.store.questions.close('question-2', 1);
  expect((await run('issue', 'show', '1')).out).toContain('· baton ask show BAT-1\n');
  expect(JSON.parse((await run('issue', 'show', '1', '--json')).out)).toMatchObject({
    open_questions: [{ id: 'question-1', kind: 'command' }],
    last_run: { run_id: 'run-12345', outcome: 'failed', branch: 'baton/bat-1' },
  });
  expect((await run('issue', 'show', '2')).out).not.toMatch(/baton ask|run-1234/);
});

describe('baton issue add', () => {
  it('prints the identifier, and stores every flag', async () => {
    const { run, board, opened } = await boardProgram();
    expect(await run('issue', 'add', 'First')).toMatchObject({ exitCode: 0, out: 'BAT-1\n', err: '' });
    const flags = [
      '--description',
      'What',
      '--priority',
      '2',
      '--label',
      'Bug',
      '--label',
      'ui',
      '--status',
      'backlog',
    ];
    const links = ['--parent', '1', '--blocked-by', 'bat-1', '--branch', 'x', '--url', 'https://example.invalid/'];
    const { out } = await run('issue', 'add', 'Second', ...flags, ...links, '--reason', 'why', '--as', 'eve', '--json');
    expect(JSON.parse(out)).toMatchObject({
      created: true,
      issue: {
        identifier: 'BAT-2',
        title: 'Second',
        description: 'What',
        priority: 2,
        labels: ['bug', 'ui'],
        status: 'backlog',
        parent: 'BAT-1',
        blocked_by: [{ identifier: 'BAT-1', status: 'todo' }],
        branch: 'x',
        url: 'https://example.invalid/',
      },
    });
    const { history } = await board.details((await board.find('2')).id);
    expect(history).toMatchObject([{ author: { kind: 'person', name: 'eve' }, reason: 'why' }]);
    expect(opened).toEqual(['open WORKFLOW.md', 'close', 'open WORKFLOW.md', 'close']);
  });

  it('reads a description from stdin', async () => {
    const program = await boardProgram();
    program.stdin = 'two\nlines\n';
    await program.run('issue', 'add', 'First', '--description', '-');
    expect((await program.board.find('1')).description).toBe('two\nlines');
  });

  it('creates one issue per key, and says when it already existed', async () => {
    const { run } = await boardProgram();
    await run('issue', 'add', 'First', '--key', 'k');
    const again = await run('issue', 'add', 'First', '--key', 'k');
    expect(again).toMatchObject({ exitCode: 0, out: 'BAT-1\n', err: expect.stringMatching(/^BAT-1 .+\n$/) });
    const { out } = await run('issue', 'add', 'First', '--key', 'k', '--json');
    expect(JSON.parse(out)).toMatchObject({ created: false, issue: { identifier: 'BAT-1' } });
  });

  it.each([
    [['--priority', '7'], '1, 2, 3, 4 or none'],
    [['--status', 'nirvana'], 'backlog, todo'],
  ])('rejects %j as a usage error', async (flags, hint) => {
    const { run, opened } = await boardProgram();
    const { error } = await run('issue', 'add', 'x', ...flags);
    expect(error).toMatchObject({ code: 'commander.invalidArgument', message: expect.stringContaining(hint) });
    expect(opened).toEqual([]);
  });

  it('closes the board when the issue is refused', async () => {
    const { run, opened } = await boardProgram();
    expect((await run('issue', 'add', 'two\nlines')).error?.code).toBe('board_issue_invalid');
    expect((await run('issue', 'add', ' ')).error?.code).toBe('usage_error');
    expect(opened).toEqual(['open WORKFLOW.md', 'close', 'open WORKFLOW.md', 'close']);
  });
});

describe('baton issue list', () => {
  it('prints a table of the requested issues', async () => {
    const { run, scene } = await boardProgram();
    await run('issue', 'add', 'One', '--label', 'bug', '--priority', '1');
    await scene.clock.advance(1);
    await run('issue', 'add', 'Two \u202ered', '--status', 'backlog');
    expect((await run('issue', 'list')).out).toBe(`ISSUE  STATUS   P  TITLE            LABELS
BAT-1  todo     1  One              bug
BAT-2  backlog  -  Two ⟦U+202E⟧red
`);
    expect((await run('issue', 'list', '--status', 'todo,review', '--label', 'BUG')).out).toContain('BAT-1');
    expect((await run('issue', 'list', '--status', 'done')).out).not.toMatch(/^$|BAT-/);
    expect((await run('issue', 'list', '--limit', '1')).out).toContain(' --limit');
    const { issues, more } = JSON.parse((await run('issue', 'list', '--limit', '1', '--json')).out);
    expect([issues.length, more]).toEqual([1, true]);
  });

  it('is no wider than the terminal', async () => {
    const program = await boardProgram();
    await program.run('issue', 'add', 'long '.repeat(30).trim(), '--label', 'x'.repeat(80));
    program.terminal = { isTTY: true, columns: 50 };
    const lines = (await program.run('issue', 'list')).out.trimEnd().split('\n');
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(50);
  });
});

describe('baton issue show', () => {
  /** These lines, one after the other, and nothing else. */
  const lines = (...each: readonly RegExp[]): RegExp =>
    new RegExp(`^${each.map(({ source }) => `${source}\\n`).join('')}$`);

  it('prints everything for people', async () => {
    const { run, board } = await boardProgram();
    await run('issue', 'add', 'First');
    await run('issue', 'add', 'Second', '--blocked-by', '1', '--parent', '1', '--description', 'one\n\u001b[2Jtwo');
    await board.move((await board.find('2')).id, 'in_progress', { author: { kind: 'orchestrator' } });
    await run('issue', 'comment', '2', 'said\nso');
    await run('issue', 'edit', '2', '--priority', '3', '--label', 'a');
    await run('issue', 'move', '2', 'cancelled', '--reason', 'not needed');
    expect((await run('issue', 'show', '2')).out).toMatch(
      lines(
        /BAT-2 {2}Second/,
        / {2}status +cancelled/,
        / {2}priority +3/,
        / {2}labels +a/,
        / {2}\S.* BAT-1 \(todo\) First/,
        / {2}\S.* BAT-1 \(todo\)/,
        / {2}\S+ +2026-01-01 00:00:00Z/,
        / {2}\S+ +2026-01-01 00:00:00Z/,
        /\none\n␛\[2Jtwo\n/,
        /\S+/,
        / {2}2026-01-01 00:00:00Z {2}ada/,
        / {4}said\n {4}so\n/,
        /\S+/,
        / {2}2026-01-01 00:00:00Z {2}ada \S.*/,
        / {2}2026-01-01 00:00:00Z {2}.* todo .* in_progress/,
        / {2}2026-01-01 00:00:00Z {2}ada .*priority .*3/,
        / {2}2026-01-01 00:00:00Z {2}ada .*labels .*a/,
        / {2}2026-01-01 00:00:00Z {2}ada .* in_progress .* cancelled: not needed/,
      ),
    );
    expect((await run('issue', 'show', '1')).out).toContain(' BAT-2 (cancelled) Second\n');
    expect(JSON.parse((await run('issue', 'show', '1', '--json')).out)).toMatchObject({
      open_questions: [],
      last_run: null,
    });
    const json = JSON.parse((await run('issue', 'show', '2', '--json')).out);
    expect(json).toMatchObject({
      issue: { identifier: 'BAT-2', parent: 'BAT-1' },
      children: [],
      blocks: [],
      comments: [{ body: 'said\nso', at: '2026-01-01T00:00:00.000Z', author: { kind: 'person', name: 'ada' } }],
    });
    expect(json.history).toHaveLength(5);
  });

  it('escapes terminal control characters in JSON', async () => {
    const { run } = await boardProgram();
    await run('issue', 'add', 'x', '--description', 'a\u009b31m\u202e');
    const { out } = await run('issue', 'show', '1', '--json');
    expect(out).not.toMatch(/[\u009b\u202e]/);
    expect(JSON.parse(out).issue.description).toBe('a\u009b31m\u202e');
  });

  it('suggests the nearest identifier for an unknown one', async () => {
    const { run } = await boardProgram();
    await run('issue', 'add', 'x');
    expect((await run('issue', 'show', 'BAT-11')).error).toMatchObject({
      code: 'tracker_issue_not_found',
      details: { name: 'BAT-11', nearest: ['BAT-1'] },
    });
  });
});

describe('baton issue edit, move, comment, block and unblock', () => {
  it('changes only the named fields; none clears a field', async () => {
    const { run, board } = await boardProgram();
    await run('issue', 'add', 'First');
    await run('issue', 'add', 'Old', '--priority', '1', '--parent', '1', '--branch', 'b', '--label', 'x');
    const { out } = await run('issue', 'edit', '2', '--title', 'New', '--priority', 'none', '--parent', 'none');
    expect(out).toMatch(/^BAT-2 .+\n$/);
    const kept = { branch: 'b', labels: ['x'] };
    expect(await board.find('2')).toMatchObject({ title: 'New', priority: null, parentId: null, ...kept });
    await run('issue', 'edit', '2', '--label', '');
    expect((await board.find('2')).labels).toEqual([]);
    expect((await run('issue', 'edit', '2')).error?.code).toBe('usage_error');
  });

  it('allows the moves of the board, and names them in a refusal', async () => {
    const { run } = await boardProgram();
    await run('issue', 'add', 'x');
    const json = async (to: string) => JSON.parse((await run('issue', 'move', 'BAT-1', to, '--json')).out);
    expect(await json('Backlog')).toMatchObject({ moved: true, issue: { status: 'backlog' } });
    expect(await json('backlog')).toMatchObject({ moved: false, issue: { status: 'backlog' } });
    expect((await run('issue', 'move', 'BAT-1', 'backlog')).out).toMatch(/^BAT-1 .* backlog .*\n$/);
    expect((await run('issue', 'move', 'BAT-1', 'review')).error).toMatchObject({
      code: 'board_move_refused',
      details: { from: 'backlog', to: 'review', allowed: ['todo', 'done', 'cancelled'] },
    });
    expect((await run('issue', 'move', 'BAT-1', 'nirvana')).error?.code).toBe('commander.invalidArgument');
  });

  it('says what an issue waits for', async () => {
    const { run } = await boardProgram();
    for (const title of ['a', 'b', 'c']) await run('issue', 'add', title);
    expect((await run('issue', 'block', '3', '--by', '1', '--by', '2')).out).toMatch(
      /^BAT-3 .* BAT-1 \(todo\), BAT-2 \(todo\)/,
    );
    expect((await run('issue', 'block', '1', '--by', '3')).error?.code).toBe('board_cycle');
    await run('issue', 'unblock', '3', '--by', '1');
    expect((await run('issue', 'unblock', '3', '--by', '2')).out).toMatch(/^BAT-3 \D+\n$/);
    expect((await run('issue', 'block', '3')).error?.code).toBe('commander.missingMandatoryOptionValue');
  });

  it('reads a comment from stdin', async () => {
    const program = await boardProgram();
    await program.run('issue', 'add', 'x');
    program.stdin = 'from a pipe\n';
    const { out } = await program.run('issue', 'comment', '1', '-', '--json');
    expect(JSON.parse(out)).toMatchObject({ identifier: 'BAT-1', comment: { body: 'from a pipe' } });
  });
});

describe('baton issue import', () => {
  const folder = (): string => {
    const made = mkdtempSync(path.join(tmpdir(), 'baton-import-'));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    return made;
  };

  it('detects the format from the name, prints new issues, and creates nothing the second time', async () => {
    const program = await boardProgram();
    program.cwd = folder();
    writeFileSync(path.join(program.cwd, 'plan.md'), '- [ ] One\n- [x] Two\n');
    expect((await program.run('issue', 'import', 'plan.md')).out).toMatch(
      /^BAT-1 \(todo\) One\nBAT-2 \(done\) Two\n2 \D+ 0 \D+\n$/,
    );
    expect((await program.run('issue', 'import', 'plan.md')).out).toMatch(/^0 \D+ 2 \D+\n$/);
    const { out } = await program.run('issue', 'import', 'plan.md', '--json');
    expect(JSON.parse(out)).toMatchObject({ created: [], known: [{ identifier: 'BAT-1' }, { identifier: 'BAT-2' }] });
  });

  it('reads JSON lines from stdin', async () => {
    const program = await boardProgram();
    program.stdin = '{"title": "One"}\n{"title": "Two", "blocked_by": ["One"]}\n';
    const { out } = await program.run('issue', 'import', '-', '--format', 'jsonl', '--json');
    expect(JSON.parse(out).created).toHaveLength(2);
  });

  it('rejects a file that is missing, too large, of unknown format, or has wrong lines', async () => {
    const program = await boardProgram();
    program.cwd = folder();
    writeFileSync(path.join(program.cwd, 'bad.jsonl'), '{"title": "ok"}\n{"title": 7}\n');
    writeFileSync(path.join(program.cwd, 'large.md'), '');
    truncateSync(path.join(program.cwd, 'large.md'), 11 * 1024 * 1024);
    expect((await program.run('issue', 'import', 'none.md')).error?.code).toBe('board_import_invalid');
    expect((await program.run('issue', 'import', 'large.md')).error?.details).toMatchObject({ problem: 'too_large' });
    expect((await program.run('issue', 'import', 'plan.txt')).error?.code).toBe('usage_error');
    expect((await program.run('issue', 'import', 'bad.jsonl')).error?.details).toMatchObject({
      problems: [{ line: 2 }],
    });
    expect(JSON.parse((await program.run('issue', 'list', '--json')).out).issues).toEqual([]);
  });
});
