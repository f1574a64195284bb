import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { AgentQuestion, QuestionAnswer } from '../../../src/core/command/question.ts';
import { listMarkedProcesses } from '../../../src/process/containment/marked-processes.ts';
import type { Step } from '../../fake/acp/scenario.ts';
import { hasNamespaces } from '../../security/machine.ts';
import { scratchFolder } from '../scripted-scene.ts';
import { openAcp, turn } from './acp-scene.ts';

const options = [
  { optionId: 'forever', kind: 'allow_always', name: 'Always' },
  { optionId: 'yes', kind: 'allow_once', name: 'Yes' },
  { optionId: 'never', kind: 'reject_always', name: 'Never' },
  { optionId: 'no', kind: 'reject_once', name: 'No' },
];
const toolCall = { toolCallId: 'c1', kind: 'execute', title: 'rm', rawInput: { command: 'rm -r build' } };
const permission: Step = { ask: 'session/request_permission', params: { toolCall, options } };
const selected = (optionId: string) => ({ result: { outcome: { outcome: 'selected', optionId } } });

/** A person who gives these answers, one after the other. */
function person(...answers: readonly QuestionAnswer['decision'][]) {
  const asked: AgentQuestion[] = [];
  const ask = async (question: AgentQuestion): Promise<QuestionAnswer | null> => {
    const decision = answers[asked.push(question) - 1];
    return decision === undefined ? null : { decision, values: {} };
  };
  return { asked, ask };
}

describe('a request for permission', () => {
  it('is shown to a person, whose yes is for this one call', async () => {
    const { ask, asked } = person('accept', 'decline');
    const { session, fake } = await openAcp(turn(permission, permission, permission), { request: { ask } });
    await session.runTurn('go');
    expect(fake.answers()).toEqual([selected('yes'), selected('no'), selected('no')]);
    expect(asked[0]).toMatchObject({ kind: 'command', detail: expect.stringContaining('rm -r build') });
  });

  it('is granted again without asking after a yes for the session, and still for one call only', async () => {
    const { ask, asked } = person('accept_for_session');
    const { session, fake } = await openAcp(turn(permission, permission), { request: { ask } });
    await session.runTurn('go');
    expect(fake.answers()).toEqual([selected('yes'), selected('yes')]);
    expect(asked).toHaveLength(1);
  });

  it.each([
    { approvals: 'auto', answer: 'yes' },
    { approvals: 'deny', answer: 'no' },
  ] as const)('is answered by the policy $approvals', async ({ approvals, answer }) => {
    const { session, fake } = await openAcp(turn(permission), { options: { approvals } });
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
    expect(fake.answers()).toEqual([selected(answer)]);
  });

  it('is declined when the only yes is one for always', async () => {
    const params = { toolCall, options: options.filter(({ kind }) => kind !== 'allow_once') };
    const { session, fake } = await openAcp(turn({ ask: 'session/request_permission', params }), {
      options: { approvals: 'auto' },
    });
    await session.runTurn('go');
    expect(fake.answers()).toEqual([selected('no')]);
  });

  it('is declined when a person cannot see all of it, or it says nothing', async () => {
    const long = { ...toolCall, rawInput: { command: 'x'.repeat(40_000) } };
    const { ask, asked } = person('accept', 'accept');
    const { session, fake } = await openAcp(
      turn(
        { ask: 'session/request_permission', params: { toolCall: long, options } },
        { ask: 'session/request_permission', params: { options } },
      ),
      { request: { ask } },
    );
    await session.runTurn('go');
    expect(fake.answers()).toEqual([selected('no'), selected('no')]);
    expect(asked).toEqual([]);
  });

  it('shows the change of a file, and everything else that the request says', async () => {
    const diff = { type: 'diff', path: '/w/a.txt', oldText: 'one', newText: 'two' };
    const edit = { kind: 'edit', title: 'Edit', rawInput: { secret_flag: 'on' }, content: [diff] };
    const { ask, asked } = person();
    const { session } = await openAcp(
      turn({ ask: 'session/request_permission', params: { toolCall: edit, options, extra: 'field' } }),
      { request: { ask } },
    );
    await session.runTurn('go');
    expect(asked[0]?.kind).toBe('file_change');
    for (const part of ['/w/a.txt', '-one', '+two', 'secret_flag', 'extra']) expect(asked[0]?.detail).toContain(part);
  });

  it.each([
    ['edit', 'no'],
    ['delete', 'no'],
    ['move', 'no'],
    ['execute', 'no'],
    ['switch_mode', 'no'],
    ['read', 'yes'],
    ['other', 'yes'],
  ])('to %s gets a %s in a read-only session', async (kind, answer) => {
    const params = { toolCall: { toolCallId: 'c1', kind, title: 'a call' }, options };
    const { session, fake } = await openAcp(turn({ ask: 'session/request_permission', params }), {
      options: { approvals: 'auto' },
      request: { isReadOnly: true },
    });
    await session.runTurn('go');
    expect(fake.answers()).toEqual([selected(answer)]);
  });

  it('to run a command of no kind is declined in a read-only session', async () => {
    const params = { toolCall: { ...toolCall, kind: 'other' }, options };
    const { ask, asked } = person('accept');
    const { session, fake } = await openAcp(turn({ ask: 'session/request_permission', params }), {
      request: { isReadOnly: true, ask },
    });
    await session.runTurn('go');
    expect(fake.answers()).toEqual([selected('no')]);
    expect(asked).toEqual([]);
  });

  it('is cancelled with its turn, also when it comes after the cancel', async () => {
    const { session, fake, names } = await openAcp(
      turn({ say: 'well' }, permission, { askLate: 'session/request_permission', params: { toolCall, options } }),
      {
        request: {
          ask: (_question, signal) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve(null))),
        },
      },
    );
    const giveUp = new AbortController();
    const over = session.runTurn('go', giveUp.signal);
    await expect.poll(names).toContain('approval_required');
    giveUp.abort();
    expect(await over).toEqual({ status: 'cancelled' });
    const cancelled = { result: { outcome: { outcome: 'cancelled' } } };
    await expect.poll(() => fake.answers()).toEqual([cancelled, cancelled]);
  });
});

describe('a request about a file', () => {
  const read = (file: string, more = {}): Step => ({ ask: 'fs/read_text_file', params: { path: file, ...more } });
  const write = (file: string, content: string): Step => ({
    ask: 'fs/write_text_file',
    params: { path: file, content },
  });

  it('reads and writes in the workspace and the git directory, and makes folders', async () => {
    const workspace = scratchFolder();
    const gitDir = scratchFolder();
    writeFileSync(path.join(workspace, 'a.txt'), 'one\ntwo\nthree\n');
    mkdirSync(path.join(workspace, 'real'));
    symlinkSync('real', path.join(workspace, 'link'));
    const { session, fake } = await openAcp(
      turn(
        read(path.join(workspace, 'a.txt')),
        read(path.join(workspace, 'a.txt'), { line: 2, limit: 1 }),
        write(path.join(workspace, 'a.txt'), 'new'),
        write(path.join(workspace, 'deep/er/b.txt'), 'made'),
        write(path.join(workspace, 'link/c.txt'), 'inside'),
        write(path.join(gitDir, 'note'), 'here'),
        read(path.join(workspace, 'missing.txt')),
      ),
      { request: { workspace, writableRoots: [gitDir] } },
    );
    await session.runTurn('go');
    expect(fake.answers()).toMatchObject([
      { result: { content: 'one\ntwo\nthree\n' } },
      { result: { content: 'two' } },
      { result: {} },
      { result: {} },
      { result: {} },
      { result: {} },
      { error: { code: -32002 } },
    ]);
    expect(readFileSync(path.join(workspace, 'a.txt'), 'utf8')).toBe('new');
    expect(readFileSync(path.join(workspace, 'deep/er/b.txt'), 'utf8')).toBe('made');
    expect(readFileSync(path.join(workspace, 'real/c.txt'), 'utf8')).toBe('inside');
    expect(readFileSync(path.join(gitDir, 'note'), 'utf8')).toBe('here');
  });

  it('to write, or a command, is refused in a read-only session, which also offers neither', async () => {
    const workspace = scratchFolder();
    writeFileSync(path.join(workspace, 'a.txt'), 'kept');
    const { session, fake } = await openAcp(
      turn(
        write(path.join(workspace, 'a.txt'), 'new'),
        { ask: 'terminal/create', params: { command: 'echo new > b.txt' } },
        read(path.join(workspace, 'a.txt')),
      ),
      { request: { workspace, isReadOnly: true } },
    );
    await session.runTurn('go');
    const refused = { error: { code: expect.any(Number) } };
    expect(fake.answers()).toMatchObject([refused, refused, { result: { content: 'kept' } }]);
    expect(readdirSync(workspace)).toEqual(['a.txt']);
    const capabilities = { fs: { readTextFile: true, writeTextFile: false }, terminal: false };
    expect(fake.asked('initialize')).toMatchObject([{ clientCapabilities: capabilities }]);
  });

  it('cannot leave the workspace: by its path, through a link, or by a pipe', async () => {
    const workspace = scratchFolder();
    const outside = scratchFolder();
    writeFileSync(path.join(outside, 'secret'), 'canary');
    symlinkSync(outside, path.join(workspace, 'folder'));
    symlinkSync(path.join(outside, 'secret'), path.join(workspace, 'file'));
    symlinkSync(path.join(outside, 'not-yet'), path.join(workspace, 'dangling'));
    execFileSync('mkfifo', [path.join(workspace, 'pipe')]);
    const here = (name: string): string => path.join(workspace, name);
    const { session, fake } = await openAcp(
      turn(
        read(path.join(outside, 'secret')),
        read(`${workspace}/../${path.basename(outside)}/secret`),
        read(here('folder/secret')),
        read(here('file')),
        read('a.txt'),
        read(here('pipe')),
        read(workspace),
        read(`${workspace}-more/a`),
        write(here('folder/new'), 'x'),
        write(here('folder/deep/new'), 'x'),
        write(here('file'), 'x'),
        write(here('dangling'), 'x'),
        { ask: 'fs/read_text_file', params: {} },
        { ask: 'fs/write_text_file', params: { path: here('a') } },
      ),
      { request: { workspace } },
    );
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
    const codes = fake.answers().map(({ error }) => error?.code);
    expect(codes).toEqual(Array(14).fill(-32602));
    expect(readFileSync(path.join(outside, 'secret'), 'utf8')).toBe('canary');
    expect(['new', 'deep', 'not-yet'].map((name) => existsSync(path.join(outside, name)))).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('a terminal', () => {
  const create = (params: object): Step => ({ ask: 'terminal/create', params: { ...params } });
  const at = (method: string): Step => ({ ask: `terminal/${method}`, params: { terminalId: '$terminal' } });

  it('runs a command in the workspace, with its output and its exit', async () => {
    const { session, fake, workspace, items } = await openAcp(
      turn(
        create({ command: 'pwd; echo "$GREETING"; echo no >&2; exit 3', env: [{ name: 'GREETING', value: 'hello' }] }),
        at('wait_for_exit'),
        at('output'),
        {
          call: { kind: 'execute', title: 'pwd' },
          ends: { content: [{ type: 'terminal', terminalId: '$terminal' }], status: 'failed' },
        },
        at('release'),
        at('output'),
        create({ command: 'printf', args: ['%s', 'a b'] }),
        at('wait_for_exit'),
        at('output'),
      ),
    );
    await session.runTurn('go');
    const output = `${workspace}\nhello\nno\n`;
    expect(fake.answers().slice(1)).toMatchObject([
      { result: { exitCode: 3, signal: null } },
      { result: { output, truncated: false, exitStatus: { exitCode: 3 } } },
      { result: {} },
      { error: { code: -32002 } },
      { result: { terminalId: expect.any(String) } },
      { result: { exitCode: 0 } },
      { result: { output: 'a b\n' } },
    ]);
    expect(items()[0]).toMatchObject({ type: 'commandExecution', aggregatedOutput: output, exitCode: 3 });
  });

  it('is killed without the agent, and keeps its output', async () => {
    const { session, fake } = await openAcp(
      turn(create({ command: 'echo begun; sleep 300 & sleep 300' }), { waitMs: 500 }, at('kill'), at('output'), {
        say: 'alive',
      }),
    );
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'alive' });
    expect(fake.answers()[2]).toMatchObject({ result: { output: 'begun\n' } });
  });

  it.runIf(hasNamespaces)('ends with everything that it started, in a namespace of its own', async () => {
    const workspace = scratchFolder();
    const pipe = path.join(workspace, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const { session, runId } = await openAcp(
      turn(create({ command: 'setsid sleep 300 & sleep 300' }), { run: 'cat pipe' }, at('release'), { say: 'alive' }),
      { request: { workspace }, parts: { containment: 'user_pid_namespace' } },
    );
    const commands = async (): Promise<string[]> =>
      (await listMarkedProcesses({ clock: systemClock }))
        .filter((each) => each.runId === runId)
        .map(({ pid }) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
    const over = session.runTurn('go');
    const sleeps = async (): Promise<number> => (await commands()).filter((each) => each === 'sleep').length;
    await expect.poll(sleeps).toBe(2);
    writeFileSync(pipe, 'go on');
    expect(await over).toEqual({ status: 'completed', message: 'alive' });
    expect(await sleeps()).toBe(0);
  });

  it('keeps the end of its output within the limit, and starts in no folder outside', async () => {
    const { session, fake } = await openAcp(
      turn(
        create({ command: 'seq 1 100000; echo äöü', outputByteLimit: 8 }),
        at('wait_for_exit'),
        at('output'),
        create({ command: 'true', cwd: '/' }),
        create({}),
      ),
    );
    await session.runTurn('go');
    expect(fake.answers().slice(2)).toMatchObject([
      { result: { output: '\näöü\n', truncated: true } },
      { error: { code: -32602 } },
      { error: { code: -32602 } },
    ]);
  });

  it('is refused when there are too many, and when the claim may be lost', async () => {
    const many = Array.from({ length: 33 }, () => create({ command: 'sleep 300' }));
    const { session, fake } = await openAcp(turn(...many));
    await session.runTurn('go');
    expect(fake.answers().filter(({ error }) => error !== undefined)).toMatchObject([{ error: { code: -32602 } }]);
  });
});

describe('any other request', () => {
  it('gets an error, and the turn continues', async () => {
    const { session, fake } = await openAcp(turn({ ask: 'editor/open', params: {} }, { say: 'well' }));
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'well' });
    expect(fake.answers()).toMatchObject([{ error: { code: -32601 } }]);
  });
});
