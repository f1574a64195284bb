import { describe, expect, it } from 'vitest';
import { scriptQuestion } from '../../src/agent/rehearsal/choices.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import { script, stageRun, tracedHooks } from './stage-run.ts';

describe('a run fails', () => {
  it('before any process starts when the prompt cannot be rendered', async () => {
    const staged = stageRun('', {
      hooks: tracedHooks,
      renderPrompt: () => {
        throw new BatonError('template_render_error', 'There is no variable "nope".');
      },
    });
    expect(await staged.end()).toMatchObject({ end: 'failed', turns: 0, error: { code: 'template_render_error' } });
    expect(staged.processes).toEqual([]);
    expect(staged.stages).toEqual(['preparing_workspace', 'building_prompt', 'failed']);
    expect(staged.hookLines()).toEqual(['after_create', 'before_run', 'after_run']);
  });

  it('when before_run fails: no agent starts, and after_run still runs', async () => {
    const staged = stageRun(script('say hi'), {
      hooks: { ...tracedHooks, beforeRun: 'echo before_run >> ../hooks.log; exit 5' },
    });
    expect(await staged.end()).toMatchObject({ end: 'failed', turns: 0, error: { code: 'workspace_hook_failed' } });
    expect(staged.processes).toEqual([]);
    expect(staged.hookLines()).toEqual(['after_create', 'before_run', 'after_run']);
  });

  it('when the workspace cannot be prepared, and then no other hook runs', async () => {
    const staged = stageRun(script('say hi'), { hooks: { ...tracedHooks, afterCreate: 'exit 17' } });
    expect(await staged.end()).toMatchObject({
      end: 'failed',
      error: { code: 'workspace_hook_failed', details: { hook: 'after_create', status: 17 } },
    });
    expect(staged.hookLines()).toEqual([]);
    expect(staged.stages).toEqual(['preparing_workspace', 'failed']);
  });

  it('but not when the hook after_run fails', async () => {
    const staged = stageRun(script('move Done'), { hooks: { afterRun: 'exit 1' } });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(staged.logger.lines).toMatchObject([
      { level: 'warn', fields: { error: { code: 'workspace_hook_failed' } } },
    ]);
  });

  it.each([
    ['rehearsal', script('write run.sh', '| kill -9 $PPID', 'run sh run.sh')],
    ['command', 'echo last words; kill -9 $$'],
  ])('with agent_exited when the %s agent dies', async (backend, prompt) => {
    const staged = stageRun(prompt, { agent: { backend, command: 'exec sh' }, hooks: tracedHooks });
    expect(await staged.end()).toMatchObject({ end: 'failed', turns: 1, left: 0, error: { code: 'agent_exited' } });
    expect(staged.hookLines().at(-1)).toBe('after_run');
  });

  it('with agent_exited and the ordinary output of a command that has no error output', async () => {
    const staged = stageRun('echo "Not logged in"; exit 1', { agent: { backend: 'command', command: 'exec sh' } });
    const error = { code: 'agent_exited', message: expect.stringContaining('Not logged in') };
    expect(await staged.end()).toMatchObject({ end: 'failed', error });
  });

  it('with agent_exited and the last output of a command that exits with an error', async () => {
    const staged = stageRun('echo first >&2; echo trouble >&2; exit 9', {
      agent: { backend: 'command', command: 'exec sh' },
    });
    const error = { code: 'agent_exited', details: { exit_code: 9, stderr: 'first\ntrouble' } };
    expect(await staged.end()).toMatchObject({
      end: 'failed',
      error: { ...error, message: expect.stringContaining('trouble') },
    });
    expect(staged.events.map(({ summary }) => summary)).toEqual(expect.arrayContaining(['first', 'trouble']));
  });

  it('with the message of the agent when it fails its turn', async () => {
    const staged = stageRun(script('fail out of luck'));
    expect(await staged.end()).toMatchObject({
      end: 'failed',
      turns: 1,
      left: 0,
      error: { code: 'agent_turn_failed', message: 'out of luck' },
    });
  });

  it.each([
    ['rehearsal', script('say last words', 'wait 600000')],
    ['command', 'echo last words; while :; do sleep 60; done'],
  ])('as timed_out when the %s agent is silent for too long', async (backend, prompt) => {
    const staged = stageRun(prompt, {
      agent: { backend, command: 'exec sh', turnTimeoutMs: 700 },
      hooks: tracedHooks,
    });
    expect(await staged.end()).toMatchObject({ end: 'timed_out', left: 0, error: { code: 'agent_turn_timeout' } });
    expect(staged.hookLines().at(-1)).toBe('after_run');
    expect(staged.stages.at(-1)).toBe('timed_out');
  });

  it('with agent_input_required and the question when the agent needs an answer and gets none', async () => {
    const staged = stageRun('A ticket without a script.');
    expect(await staged.end()).toMatchObject({
      end: 'failed',
      left: 0,
      error: { code: 'agent_input_required', message: expect.stringContaining(scriptQuestion) },
    });
  });

  it('when its agent cannot be started', async () => {
    const staged = stageRun('', {
      agent: { backend: 'command', command: 'exec /no/such/program' },
      hooks: tracedHooks,
    });
    expect(await staged.end()).toMatchObject({ end: 'failed', error: { details: { exit_code: 127 } } });
    expect(staged.hookLines().at(-1)).toBe('after_run');
  });
});

describe('the outcome of a run never rejects', () => {
  const broken = (): never => {
    throw new Error('a broken part');
  };

  it('for a watcher that always throws: the run continues and its agent is ended', async () => {
    const staged = stageRun(script('write made.txt', '| made', 'move Done'), { report: broken });
    expect(await staged.end()).toEqual({ end: 'succeeded', turns: 1, left: 0 });
    expect(staged.file('made.txt')).toBe('made\n');
    expect(new Set(staged.logger.events())).toEqual(new Set(['run_watcher_failed']));
  });

  it('for a thrown value that is not a BatonError', async () => {
    const staged = stageRun('', { renderPrompt: broken });
    expect(await staged.end()).toMatchObject({ end: 'failed', error: { code: 'internal_error' } });
  });
});
