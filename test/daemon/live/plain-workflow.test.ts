// @module-tag full
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { liveTest, soon } from '../../cli/live-daemon.ts';
import { leaveNoPlaces } from '../../cli/run-baton.ts';
import { patientAgent, ticket, useDaemon } from './codex-daemon.ts';

leaveNoPlaces();

const longLine = 'x'.repeat(1_100_000);

const call = (id: number, params: Readonly<Record<string, unknown>>) => ({
  ask: { id, method: 'item/tool/call', params: { callId: `call-${id}`, ...params } },
});

const reviewByTool = call(900, { tool: 'update_issue_status', arguments: { status: 'In Review' } });

describe('a workflow that sets only the Codex command', liveTest, () => {
  const daemon = useDaemon(() => ({
    codex: { args: `--config 'model="gpt-5.5"' app-server` },
    tickets: {
      plain: ticket({ run: 'pwd -P > where.txt' }, { say: 'mended' }),
      tools: ticket(
        call(101, { tool: 'some_tool', arguments: {} }),
        call(102, { name: 'comment', arguments: { body: 'half way' } }),
      ),
      noise: ticket(
        { stderr: 'warning: this is stderr noise\n' },
        { raw: 'Welcome to this machine\n' },
        { ask: { id: 'strange', method: 'account/chatgptAuthTokens/refresh', params: {} } },
        { say: 'fine' },
      ),
      quota: ticket({
        send: {
          method: 'account/rateLimits/updated',
          params: {
            rateLimits: { limitId: 'codex', primary: { usedPercent: 42, windowDurationMins: 300, resetsAt: null } },
          },
        },
      }),
    },
  }));

  // @conforms T2
  it('ends after one turn when the turn hands the issue over, and the run succeeds', async () => {
    expect(await daemon().endedRuns('plain')).toMatchObject([
      { outcome: 'succeeded', error_code: null, turns: 1, retry_kind: null },
    ]);
    expect(daemon().fake('plain').sent('turn/start')).toHaveLength(1);
    const { run } = await daemon().tell('runs', 'show', daemon().idOf('plain'));
    expect(run).toMatchObject({
      backend: 'codex',
      last_message: 'mended',
      session_id: expect.stringMatching(/^thread-/),
    });
  });

  // @conforms A11
  it('sends initialize with the experimental protocol, then initialized', () => {
    const [started, first, second, third] = daemon().fake('plain').trace();
    expect(started).toHaveProperty('started');
    expect(first).toMatchObject({
      method: 'initialize',
      params: { capabilities: { experimentalApi: true }, clientInfo: { name: 'baton' } },
    });
    expect([second?.method, second?.id]).toEqual(['initialized', undefined]);
    expect(third?.method).toBe('thread/start');
  });

  // @conforms T7
  it('sends the default policies in the current words of Codex, with the workspace and its git directory writable', () => {
    const workspace = path.join(daemon().place.folder, 'workspaces', daemon().idOf('plain'));
    // Of the reject map of the reference nothing is asked for.
    const approvalPolicy = {
      granular: expect.objectContaining({ sandbox_approval: false, rules: false, mcp_elicitations: false }),
    };
    expect(daemon().fake('plain').sent('thread/start')).toMatchObject([
      { approvalPolicy, sandbox: 'workspace-write', cwd: workspace },
    ]);
    expect(daemon().fake('plain').sent('turn/start')).toMatchObject([
      {
        cwd: workspace,
        approvalPolicy,
        input: [{ type: 'text', text: `Work on ${daemon().idOf('plain')}: plain` }],
        sandboxPolicy: {
          type: 'workspaceWrite',
          writableRoots: expect.arrayContaining([workspace, `${workspace}/.git`]),
          networkAccess: false,
        },
      },
    ]);
  });

  // @conforms T8
  it('runs the command of the workflow as written, without added flags', async () => {
    for (const name of ['plain', 'tools']) {
      await daemon().endedRuns(name);
      const [first] = daemon().fake(name).trace();
      expect(first?.started?.argv).toEqual(['--config', 'model="gpt-5.5"', 'app-server']);
    }
  });

  // @conforms T10
  it('runs the agent in the workspace of its issue', () => {
    const id = daemon().idOf('plain');
    const [first] = daemon().fake('plain').trace();
    expect(path.basename(first?.started?.cwd ?? '')).toBe(id);
    expect(daemon().place.read(`workspaces/${id}/where.txt`)).toBe(`${daemon().place.folder}/workspaces/${id}\n`);
  });

  // @conforms A16
  it('refuses an unknown tool with a message, and the turn continues and completes', async () => {
    expect(await daemon().endedRuns('tools')).toMatchObject([{ outcome: 'succeeded', turns: 1 }]);
    const { result } = daemon().fake('tools').answerTo(101) as unknown as Answer;
    expect(result.success).toBe(false);
    expect(JSON.parse(result.contentItems[0]?.text ?? '')).toEqual({
      error: {
        message: 'Unsupported dynamic tool: "some_tool".',
        supportedTools: ['get_issue', 'comment', 'update_issue_status', 'ask_person', 'report_progress'],
      },
    });
  });

  // @conforms A17
  it('calls a tool by either field name with its arguments, and returns its text', async () => {
    await daemon().untilEnded('tools');
    const { result } = daemon().fake('tools').answerTo(102) as unknown as Answer;
    expect(result).toMatchObject({ success: true, contentItems: [{ type: 'inputText' }] });
    expect(await daemon().tell('issue', 'show', daemon().idOf('tools'))).toMatchObject({
      issue: { status: 'review' },
      comments: [{ body: 'half way' }],
    });
    expect((await daemon().events('tools')).map(({ event }) => event)).toEqual(
      expect.arrayContaining(['unsupported_tool_call', 'tool_call_completed']),
    );
  });

  // @conforms A20
  it('stores noise on both streams as another message, never as a malformed one', async () => {
    expect(await daemon().endedRuns('noise')).toMatchObject([{ outcome: 'succeeded', turns: 1 }]);
    const events = await daemon().events('noise');
    expect(events).toContainEqual(
      expect.objectContaining({ event: 'other_message', message: 'Welcome to this machine' }),
    );
    expect(events.filter(({ event }) => event === 'malformed')).toEqual([]);
  });

  // @conforms X7
  it('answers an unknown request with a protocol error, and the turn continues', async () => {
    await daemon().untilEnded('noise');
    expect(daemon().fake('noise').answerTo('strange')).toMatchObject({ error: { code: -32_601 } });
    expect(daemon().fake('noise').answerTo(900)).toMatchObject({ result: { success: true } });
  });

  // @conforms X3
  it('shows a quota in camel case with its account', async () => {
    await daemon().untilEnded('quota');
    expect((await daemon().tell('status')).status.accounts).toMatchObject([
      {
        backend: 'codex',
        name: 'codex',
        unavailable_until: null,
        windows: [{ name: 'primary', used_percent: 42, window_minutes: 300, resets_at: null }],
      },
    ]);
  });
});

describe('a memory tracker and an app-server', liveTest, () => {
  const daemon = useDaemon(() => ({
    settings: [
      'tracker: {kind: memory, review_states: [In Review], provider: {issues_file: issues.json}}',
      `agent: {${patientAgent}, max_turns: 2, max_idle_turns: 0}`,
    ],
    tickets: {
      once: { turns: [{ steps: [{ run: 'echo kept > work.txt' }, reviewByTool] }] },
      long: { turns: [{ steps: [{ say: 'still at it' }] }] },
      heavy: {
        answers: {
          initialize: { result: { userAgent: longLine, codexHome: '/', platformFamily: '', platformOs: '' } },
        },
        turns: [{ steps: [reviewByTool] }],
      },
    },
    prepare: (place, names) => {
      const issues = names.map((title, at) => ({ identifier: `BAT-${at + 1}`, title, state: 'In Progress' }));
      place.write('issues.json', JSON.stringify(issues));
    },
  }));

  // @conforms T1
  it('keep the workspace after one turn, named by the identifier of an issue without its own id', async () => {
    expect(await daemon().endedRuns('once')).toMatchObject([{ outcome: 'succeeded', turns: 1 }]);
    const file = path.join(daemon().place.folder, 'workspaces', 'BAT-1', 'work.txt');
    expect(existsSync(file) && readFileSync(file, 'utf8')).toBe('kept\n');
  });

  // @conforms T4
  it('run max_turns turns on one thread in one process for an issue that stays active, and succeed', async () => {
    const [first] = await daemon().endedRuns('long');
    expect(first).toMatchObject({ outcome: 'succeeded', turns: 2, retry_kind: null });
    const trace = daemon().fake('long').trace();
    const next = trace.findIndex(({ started }, at) => at > 0 && started !== undefined);
    const ofFirst = trace.slice(0, next === -1 ? undefined : next);
    const turns = ofFirst.filter(({ method }) => method === 'turn/start');
    expect(turns.map(({ params }) => params?.threadId)).toEqual([first?.session_id, first?.session_id]);
  });

  // @conforms T4
  it('continue a still active issue in another run, which starts its own thread', async () => {
    await soon(() => expect(daemon().fake('long').sent('thread/start').length).toBeGreaterThan(1));
    const runs = await daemon().runs('long');
    expect(runs[1]).toMatchObject({ retry_kind: 'continuation' });
    expect(daemon().fake('long').sent('thread/resume')).toEqual([]);
  });

  // @conforms A19
  it('read a first answer of more than a megabyte in one line completely', async () => {
    expect(await daemon().endedRuns('heavy')).toMatchObject([{ outcome: 'succeeded', turns: 1 }]);
  });
});

interface Answer {
  readonly result: { readonly success: boolean; readonly contentItems: readonly { readonly text: string }[] };
}
