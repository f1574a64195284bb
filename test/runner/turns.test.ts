import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { script, stageRun, tracedHooks } from './stage-run.ts';

const wholeWay = [
  'preparing_workspace',
  'building_prompt',
  'launching_agent_process',
  'initializing_session',
  'streaming_turn',
  'finishing',
  'succeeded',
];

describe('a run', () => {
  // @conforms T1, T2
  it('has one turn when the agent moves the issue to a terminal state, and keeps the workspace', async () => {
    const staged = stageRun(script('write made.txt', '| by the agent', 'move Done'), { hooks: tracedHooks });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(staged.file('made.txt')).toBe('by the agent\n');
    expect(staged.turns).toEqual([1]);
    expect(staged.hookLines()).toEqual(['after_create', 'before_run', 'after_run']);
    expect(staged.processes).toHaveLength(1);
    // Seed 2, Run Attempt Lifecycle.
    expect(staged.stages).toEqual(wholeWay);
  });

  it('passes the same stages with an agent that has a process only during a turn', async () => {
    const staged = stageRun('echo made > made.txt', { agent: { backend: 'command', command: 'exec sh' } });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(staged.file('made.txt')).toBe('made\n');
    expect(staged.stages).toEqual(wholeWay);
  });

  // @conforms T4
  it('ends well after max_turns turns of one process while the issue stays active', async () => {
    const turns = script(
      'append turns.txt',
      '| one',
      'next turn',
      'append turns.txt',
      '| two',
      'next turn',
      'fail three',
    );
    const staged = stageRun(turns, { agent: { maxTurns: 2 } });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 2, left: 0 });
    expect(staged.turns).toEqual([1, 2]);
    expect(staged.file('turns.txt')).toBe('one\ntwo\n');
    expect(staged.processes).toHaveLength(1);
    expect(staged.events.filter(({ name }) => name === 'turn_started')).toHaveLength(2);
  });

  it('gives one turn to an agent without memory, whatever max_turns says', async () => {
    const staged = stageRun('echo again >> turns.txt', {
      agent: { backend: 'command', command: 'exec sh', maxTurns: 5 },
    });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(staged.file('turns.txt')).toBe('again\n');
  });

  const twoTurns = script('say one', 'next turn', 'write second.txt', '| must not be');
  it.each([
    // @conforms T5
    ['lost its required label', { labels: [] }],
    ['moved to a state that is not active', { state: 'Backlog' }],
    ['is no longer for dispatch', { dispatchable: false }],
  ])('has no further turn when the issue %s', async (_what, change) => {
    const staged = stageRun(twoTurns, {
      tracker: { requiredLabels: ['agent'] },
      issue: { labels: ['agent'] },
      readIssue: async () => issue({ id: 'id-1', state: 'In Progress', labels: ['agent'], ...change }),
    });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(staged.file('second.txt')).toBeNull();
  });

  it('continues when a blocker was added meanwhile, because blockers count only at the start', async () => {
    const blocked = { id: 'other', identifier: 'T-2', state: 'Todo' };
    const staged = stageRun(twoTurns, {
      agent: { maxTurns: 2 },
      issue: { state: 'Todo' },
      readIssue: async () => issue({ id: 'id-1', state: 'Todo', blockedBy: [blocked] }),
    });
    expect(await staged.end()).toMatchObject({ end: 'succeeded', turns: 2 });
    expect(staged.file('second.txt')).toBe('must not be\n');
  });

  it('has no further turn when the issue is gone', async () => {
    const staged = stageRun(twoTurns, { readIssue: async () => null });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
  });

  it('ends well when the tracker cannot be read between two turns, and logs it', async () => {
    const staged = stageRun(twoTurns, {
      readIssue: () => Promise.reject(new BatonError('tracker_request', 'The tracker does not answer.')),
    });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(staged.logger.lines).toMatchObject([
      {
        level: 'warn',
        fields: { issue_id: 'id-1', issue_identifier: 'T-1', run_id: staged.runId, error: { code: 'tracker_request' } },
      },
    ]);
  });

  it('passes issue, workspace and attempt to the agent as variables', async () => {
    const staged = stageRun('env > env.txt', {
      agent: { backend: 'command', command: 'exec sh' },
      request: { attempt: 3 },
    });
    await staged.end();
    const env = staged.file('env.txt') ?? '';
    expect(env).toContain('BATON_ISSUE_ID=id-1\n');
    expect(env).toContain('BATON_ISSUE_IDENTIFIER=T-1\n');
    expect(env).toContain('BATON_ATTEMPT=3\n');
    expect(env).toContain(`BATON_RUN_ID=${staged.runId}\n`);
    expect(env).toMatch(/^BATON_WORKSPACE=\/.*\/T-1$/m);
  });

  it('shows the control characters of an identifier instead of passing them on', async () => {
    const staged = stageRun('env > env.txt', {
      agent: { backend: 'command', command: 'exec sh' },
      issue: { identifier: 'T-1\u001b]0;owned\u0007' },
    });
    await staged.end();
    const root = path.dirname(staged.workspace);
    const folder = readdirSync(root).find((name) => name.startsWith('T-1')) ?? '';
    const env = readFileSync(path.join(root, folder, 'env.txt'), 'utf8');
    expect(env).toContain('BATON_ISSUE_IDENTIFIER=T-1␛]0;owned␇\n');
  });
});
