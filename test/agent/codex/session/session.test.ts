import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../../scripted-scene.ts';
import { openCodex, turn } from '../codex-scene.ts';

const rejectAll = { reject: { sandbox_approval: true, rules: true, mcp_elicitations: true } };

describe('a Codex session', () => {
  // @conforms A11, T7, T10
  it('begins with initialize, initialized, thread/start and turn/start on that thread, in the workspace (A11, T7, T10)', async () => {
    const { session, fake, workspace } = await openCodex(
      {},
      {
        options: { approvalPolicy: rejectAll },
        request: { writableRoots: ['/repo/.git'] },
      },
    );
    await session.runTurn('Mend the door.');
    expect(fake.trace()[0]?.started).toMatchObject({ cwd: workspace });
    const asked = fake.trace().flatMap(({ method }) => method ?? []);
    expect(asked.filter((method) => method !== 'thread/name/set')).toEqual([
      'initialize',
      'initialized',
      'thread/start',
      'turn/start',
    ]);
    expect(fake.sent('initialize')[0]).toMatchObject({
      clientInfo: { name: 'baton', version: '1.2.3' },
      capabilities: { experimentalApi: true },
    });
    const approvalPolicy = {
      granular: {
        sandbox_approval: false,
        rules: false,
        mcp_elicitations: false,
        skill_approval: false,
        request_permissions: false,
      },
    };
    expect(fake.sent('thread/start')[0]).toEqual({
      cwd: workspace,
      approvalPolicy,
      sandbox: 'workspace-write',
      dynamicTools: [],
      // No turns that Codex begins by itself, and no programs that a repository names.
      config: { 'features.goals': false, projects: { [workspace]: { trust_level: 'untrusted' } } },
    });
    expect(fake.sent('turn/start')[0]).toEqual({
      threadId: session.threadId,
      input: [{ type: 'text', text: 'Mend the door.', text_elements: [] }],
      cwd: workspace,
      approvalPolicy,
      sandboxPolicy: {
        type: 'workspaceWrite',
        writableRoots: [workspace, path.join(workspace, '.git'), '/repo/.git'],
        networkAccess: false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      },
    });
  });

  it('only reads in a read-only session, whatever the workflow sets', async () => {
    const turnSandboxPolicy = { type: 'dangerFullAccess' };
    const options = { approvalPolicy: 'untrusted', threadSandbox: 'danger-full-access', turnSandboxPolicy } as const;
    const request = { isReadOnly: true, writableRoots: ['/repo/.git'], threadId: null };
    const { session, fake } = await openCodex({}, { options, request });
    await session.runTurn('Look at the door.');
    const asksNothing = { sandbox_approval: false, rules: false, skill_approval: false, request_permissions: false };
    const approvalPolicy = { granular: { ...asksNothing, mcp_elicitations: true } };
    expect(fake.sent('thread/start')[0]).toMatchObject({ approvalPolicy, sandbox: 'read-only' });
    const sandboxPolicy = { type: 'readOnly', networkAccess: false };
    expect(fake.sent('turn/start')[0]).toMatchObject({ approvalPolicy, sandboxPolicy });
    const resumed = await openCodex({}, { options, request: { ...request, threadId: 'before' } });
    expect(resumed.fake.sent('thread/resume')[0]).toMatchObject({ approvalPolicy, sandbox: 'read-only' });
  });

  // @conforms T8
  it('uses the command of the workflow unchanged, without flags of its own (T8)', async () => {
    const { fake } = await openCodex({});
    const words = ` --config 'model="gpt-5.5"' app-server`;
    const scene = await openCodex({}, { options: { command: `${fake.command}${words}` } });
    await scene.session.stop();
    const started = fake.trace().findLast((frame) => frame.started !== undefined);
    expect(started?.started?.argv).toEqual(['--config', 'model="gpt-5.5"', 'app-server']);
  });

  // @conforms A22
  it('has no tracker secrets, even when the login profile exports them again (A22)', async () => {
    const home = scratchFolder();
    await writeFile(path.join(home, '.bash_profile'), 'export TRACKER_KEY=canary MY_KEY=canary OTHER=kept\n');
    const { session, fake, workspace } = await openCodex(turn({ run: 'env > env.txt' }), {
      parts: {
        daemonEnv: { ...process.env, HOME: home, TRACKER_KEY: 'canary' },
        denyEnv: ['TRACKER_KEY', 'MY_*', 'no name; exit 1'],
      },
    });
    await session.runTurn('go');
    const env = await readFile(path.join(workspace, 'env.txt'), 'utf8');
    expect(env).not.toContain('canary');
    expect(env).toContain('OTHER=kept');
    // Nor do the commands of Codex, which would run in their own login shells.
    expect(fake.sent('thread/start')[0]?.config).toMatchObject({ allow_login_shell: false });
  });

  // @conforms codex.2
  it('has the variables of its account despite the login profile, and no value in the shell text', async () => {
    const home = scratchFolder();
    await writeFile(path.join(home, '.bash_profile'), 'export CODEX_HOME=/elsewhere OPENAI_API_KEY=another\n');
    const accountEnv = { CODEX_HOME: path.join(home, 'mine'), OPENAI_API_KEY: `it's "mine" $HOME` };
    const { session, workspace } = await openCodex(
      turn({ run: 'env > env.txt; tr "\\0" " " < /proc/$PPID/cmdline > line.txt' }),
      { parts: { daemonEnv: { ...process.env, HOME: home }, accountEnv } },
    );
    await session.runTurn('go');
    const env = await readFile(path.join(workspace, 'env.txt'), 'utf8');
    expect(env).toContain(`CODEX_HOME=${path.join(home, 'mine')}\n`);
    expect(env).toContain(`OPENAI_API_KEY=it's "mine" $HOME\n`);
    expect(env).not.toMatch(/elsewhere|another|BATON_KEPT/);
    expect(await readFile(path.join(workspace, 'line.txt'), 'utf8')).not.toContain('mine"');
  });

  // @conforms A19
  it('reads a first answer of more than a megabyte in one line (A19)', async () => {
    const result = { padding: 'x'.repeat(1_100_000), userAgent: 'x' };
    const { session } = await openCodex({ answers: { initialize: { result } } });
    expect(session.threadId).not.toBeNull();
  });

  it.each([
    [
      'a broken config.toml',
      { 'thread/start': { error: { code: -32_600, message: 'failed to load configuration: x' } } },
    ],
    ['an answer that names no thread', { 'thread/start': { result: { thread: {} } } }],
    ['silence instead of an answer', { initialize: 'silence' as const }],
  ])('does not begin with %s: the error code names the reason, and no process is left', async (_, answers) => {
    await expect(openCodex({ answers }, { options: { readTimeoutMs: 1_500 } })).rejects.toMatchObject({
      code: expect.stringMatching(/^agent_(launch_failed|protocol_error)$/),
    });
  });

  it('does not begin when the program is missing: the error has the message of the shell', async () => {
    await expect(openCodex({}, { options: { command: 'no-such-codex app-server' } })).rejects.toMatchObject({
      code: 'agent_launch_failed',
      message: expect.stringContaining('no-such-codex'),
    });
  });

  it('begins slowly while lines arrive: the read timeout counts silence', async () => {
    const chatter = Array.from({ length: 14 }, () => [
      { waitMs: 500 },
      { send: { method: 'warning', params: {} } },
    ]).flat();
    const { names } = await openCodex({ before: { initialize: chatter } }, { options: { readTimeoutMs: 6_000 } });
    expect(names()[0]).toBe('session_started');
  });
});

describe('a resumed thread', () => {
  it('uses thread/resume, without its earlier turns, and counts tokens from here', async () => {
    const last = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
    const { session, fake, events } = await openCodex(
      turn({ usage: { inputTokens: 110, outputTokens: 25, totalTokens: 135 }, last }),
      { request: { threadId: 'thread-old' } },
    );
    expect(session).toMatchObject({ isResumed: true, threadId: 'thread-old' });
    expect(fake.sent('thread/resume')[0]).toMatchObject({ threadId: 'thread-old', excludeTurns: true });
    expect(fake.sent('thread/resume')[0]).not.toHaveProperty('dynamicTools');
    await session.runTurn('go on');
    const usage = events.flatMap((event) => event.usage ?? []).at(-1);
    expect(usage).toMatchObject({ inputTokens: 10, outputTokens: 5, totalTokens: 15, model: 'fake-model' });
  });

  it.each([
    { code: -32_600, message: 'no rollout found for thread id thread-old' },
    { code: -32_603, message: 'failed to read thread: thread-store internal error' },
  ])('becomes a new thread when Codex says: $message', async (error) => {
    const { session } = await openCodex(
      { answers: { 'thread/resume': { error } } },
      { request: { threadId: 'thread-old' } },
    );
    expect(session.isResumed).toBe(false);
    expect(session.threadId).not.toBe('thread-old');
  });

  it('is compacted, has a token budget and another model, after its last session ran out of context', async () => {
    const recovery = { budgetTokens: 50_000, compact: true, model: 'larger' };
    const { session, fake, names } = await openCodex({}, { request: { threadId: 'thread-old', recovery } });
    expect(fake.sent('thread/resume')[0]).toMatchObject({
      model: 'larger',
      config: { model_auto_compact_token_limit: 50_000 },
    });
    expect(fake.sent('thread/compact/start')).toEqual([{ threadId: 'thread-old' }]);
    expect(names()).not.toContain('turn_completed');
    expect(await session.runTurn('go on')).toMatchObject({ status: 'completed', message: 'done' });
  });

  it('continues unchanged when it cannot be compacted', async () => {
    const error = { code: -32_603, message: 'no model today' };
    const { session } = await openCodex(
      { answers: { 'thread/compact/start': { error } } },
      { request: { threadId: 'thread-old', recovery: { compact: true } } },
    );
    expect(await session.runTurn('go on')).toMatchObject({ status: 'completed' });
  });
});

describe('ending Codex', () => {
  it('interrupts and cleans up a turn that is given up, and then takes the next turn', async () => {
    const { session, fake, names } = await openCodex({
      turns: [{ match: 'long', steps: [{ say: 'working' }, { forever: true }] }, { steps: [{ say: 'fine' }] }],
    });
    const giveUp = new AbortController();
    const given = session.runTurn('long work', giveUp.signal);
    await expect.poll(names).toContain('notification');
    giveUp.abort();
    expect(await given).toEqual({ status: 'cancelled' });
    expect(fake.sent('turn/interrupt')).toMatchObject([{ threadId: session.threadId }]);
    expect(fake.sent('thread/backgroundTerminals/clean')).toHaveLength(1);
    expect(await session.runTurn('next')).toEqual({ status: 'completed', message: 'fine' });
  });

  // @conforms X5
  it('takes a bounded time when Codex ignores interrupt and the end of its input, and ends its grandchild (X5)', async () => {
    const { session, left, names } = await openCodex({
      ...turn({ grandchild: true }, { say: 'working' }, { forever: true }),
      answers: { 'turn/interrupt': 'silence', 'thread/backgroundTerminals/clean': 'silence' },
      isStubborn: true,
    });
    const given = session.runTurn('go');
    await expect.poll(names).toContain('notification');
    await session.stop();
    expect(await given).toEqual({ status: 'cancelled' });
    expect(await left()).toEqual([]);
  });
});
