import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { lastStage, type RunEnd, type StopReason } from '../../src/core/run/run.ts';
import { pidsWithArgument, uniqueNap } from '../process/real-children.ts';
import { type StagedRun, script, stageRun, tracedHooks } from './stage-run.ts';

const outcomes = [
  ['stalled', 'stalled', 'run_stalled'],
  ['terminal_state', 'canceled_by_reconciliation', 'run_cancelled'],
  ['limit_reached', 'canceled_by_reconciliation', 'limit_reached'],
  ['shutdown', 'interrupted', 'run_interrupted'],
  ['process_gone', 'failed', 'agent_exited'],
] as const satisfies [StopReason, RunEnd, string][];

describe('a run that is stopped', () => {
  // @conforms X6
  it.each(outcomes)(
    'for %s during a turn ends as %s, after_run has run and nothing is left',
    async (why, end, code) => {
      const nap = uniqueNap();
      const orphan = script('write run.sh', `| setsid sleep ${nap} > /dev/null 2>&1 &`, 'run sh run.sh', 'wait 600000');
      const staged = stageRun(orphan, { hooks: tracedHooks });
      await expect.poll(() => staged.events.at(-1)?.summary).toBe('ran sh run.sh');
      staged.run.stop(why);
      expect(await staged.end()).toMatchObject({ end, turns: 1, left: 0, error: { code } });
      expect(pidsWithArgument(nap)).toEqual([]);
      expect(staged.hookLines()).toEqual(['after_create', 'before_run', 'after_run']);
      expect(staged.stages.slice(-2)).toEqual(['finishing', lastStage(end)]);
    },
  );

  it('ends the detached children of a command that ignore TERM', async () => {
    const nap = uniqueNap();
    const stubborn = `setsid sh -c "trap '' TERM; sleep ${nap}; :" & echo ready; while :; do sleep 1; done`;
    const staged = stageRun(stubborn, { agent: { backend: 'command', command: 'exec sh' }, hooks: tracedHooks });
    await expect.poll(() => staged.events.at(-1)?.summary).toBe('ready');
    staged.run.stop('inactive_state');
    expect(await staged.end()).toMatchObject({ end: 'canceled_by_reconciliation', left: 0 });
    expect(pidsWithArgument(nap)).toEqual([]);
    expect(staged.hookLines().at(-1)).toBe('after_run');
  });

  it.each(['afterCreate', 'beforeRun'] as const)(
    'during the hook %s ends the hook and starts no agent',
    async (hook) => {
      const nap = uniqueNap();
      const staged = stageRun(script('say hi'), { hooks: { ...tracedHooks, [hook]: `sleep ${nap}` } });
      await expect.poll(() => pidsWithArgument(nap)).toHaveLength(1);
      staged.run.stop('stalled');
      expect(await staged.end()).toMatchObject({ end: 'stalled', turns: 0, left: 0 });
      expect(staged.processes).toEqual([]);
      // Without a finished workspace there is nothing for after_run to run in.
      expect(staged.hookLines()).toEqual(hook === 'afterCreate' ? [] : ['after_create', 'after_run']);
    },
  );

  it('before its first step starts no agent', async () => {
    const staged = stageRun(script('say hi'), {
      hooks: { beforeRun: tracedHooks.beforeRun, afterRun: tracedHooks.afterRun },
    });
    staged.run.stop('terminal_state');
    expect(await staged.end()).toMatchObject({ end: 'canceled_by_reconciliation', turns: 0, left: 0 });
    expect(staged.processes).toEqual([]);
    expect(staged.hookLines()).toEqual(['after_run']);
  });

  it('while the session opens has no turn', async () => {
    const staged = stageRun(script('write late.txt', '| late'), {
      hooks: tracedHooks,
      report: (fact) => void (fact.kind === 'process' && staged.run.stop('shutdown')),
    });
    expect(await staged.end()).toMatchObject({ end: 'interrupted', left: 0 });
    expect(staged.file('late.txt')).toBeNull();
    expect(staged.hookLines().at(-1)).toBe('after_run');
  });

  it('between two turns has no further one', async () => {
    const { promise: reading, resolve: onRead } = Promise.withResolvers<void>();
    const staged = stageRun(script('say one', 'next turn', 'write second.txt', '| must not be'), {
      readIssue: (signal) => {
        onRead();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    await reading;
    staged.run.stop('issue_missing');
    expect(await staged.end()).toMatchObject({ end: 'canceled_by_reconciliation', turns: 1, left: 0 });
    expect(staged.file('second.txt')).toBeNull();
  });

  it('during after_run still runs that hook to its end', async () => {
    const staged = stageRun(script('move Done'), {
      hooks: {
        afterRun: 'echo begun >> ../hooks.log; while ! test -e go; do sleep 0.05; done; echo ended >> ../hooks.log',
      },
    });
    await expect.poll(() => staged.hookLines()).toEqual(['begun']);
    staged.run.stop('terminal_state');
    writeFileSync(path.join(staged.workspace, 'go'), '');
    expect(await staged.end()).toMatchObject({ turns: 1, left: 0 });
    expect(staged.hookLines()).toEqual(['begun', 'ended']);
  });

  it('twice keeps its first reason', async () => {
    const staged = stageRun(script('say here', 'wait 600000'));
    await expect.poll(() => staged.events.at(-1)?.summary).toBe('here');
    staged.run.stop('stalled');
    staged.run.stop('terminal_state');
    expect(await staged.end()).toMatchObject({ end: 'stalled', left: 0 });
    staged.run.stop('shutdown');
    expect(await staged.end()).toMatchObject({ end: 'stalled' });
  });
});

it('a stop that arrives while the program starts ends the program', async () => {
  const staged: StagedRun = stageRun('sleep 20; echo late > late.txt', {
    agent: { backend: 'command', command: 'exec sh' },
    report: (fact) => void (fact.kind === 'process' && staged.run.stop('shutdown')),
  });
  expect(await staged.end()).toMatchObject({ end: 'interrupted', left: 0 });
  expect(staged.file('late.txt')).toBeNull();
});

// @conforms claims.9
it('a run whose claim may be lost launches nothing and ends as interrupted', async () => {
  const staged = stageRun(script('say never'), { request: { isStillOurs: () => false } });
  expect(await staged.end()).toMatchObject({ end: 'interrupted', left: 0 });
  expect(staged.processes).toEqual([]);
});
