import { expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { approveCommand } from '../../../src/core/command/retry-command.ts';
import type { Transition } from '../../../src/core/pipeline/completion.ts';
import { decideAfterExit, type RunExit } from '../../../src/core/run/exit-decision.ts';
import { settings } from '../../fake/settings.ts';

const ended: RunExit = {
  identifier: 'BAT-1',
  outcome: { end: 'succeeded', turns: 1 },
  failuresBefore: 2,
  staleBefore: 0,
  noSignalsBefore: 0,
  work: { moved: false, changed: false, committed: false, branch: { commits: 'none' }, hasLoose: false },
  quotaWaitsBefore: 0,
  quotaReadyInMs: null,
  isHeldForLogin: true,
  environmentRetryInMs: null,
  lastRecovery: null,
  agent: settings().agent,
  now: 0,
  chance: 0.5,
};
const failed = { end: 'failed', turns: 1, error: new BatonError('agent_exited', 'It ended.') } as const;
const moved = {
  end: 'canceled_by_reconciliation',
  turns: 1,
  error: new BatonError('run_cancelled', 'Moved.'),
} as const;
const alive = { end: 'failed', turns: 1, error: new BatonError('agent_survives', 'It lives.') } as const;
const advance: Transition = { to: 'advance', phase: 'ready', skipped: [], warnings: [] };
const revise: Transition = { to: 'revise', reasons: ['no'] };
const person: Transition = { to: 'person', reasons: ['no'] };
const judge: Transition = { to: 'judge', warnings: [] };

// @conforms 4.44, 4.45
it.each([
  ['advances', { transition: advance }, ended.outcome, 0, { action: 'release' }],
  ['waits for its judge', { transition: judge }, ended.outcome, 0, { action: 'release' }],
  [
    'is sent back',
    { transition: revise },
    ended.outcome,
    0,
    { action: 'retry', kind: 'revision', failures: 0, staleRuns: 0 },
  ],
  ['is sent back too often', { transition: person }, ended.outcome, 0, { action: 'hold', code: 'revisions_exhausted' }],
  ['advances although its agent failed afterwards', { transition: advance }, failed, 0, { action: 'release' }],
  ['is released when its issue moved away', { transition: revise }, moved, 0, { action: 'release' }],
  ['is held while its agent may live', { transition: advance }, alive, 0, { action: 'hold', code: 'agent_survives' }],
  [
    'completed nothing once',
    { transition: null },
    ended.outcome,
    0,
    { action: 'retry', kind: 'continuation', staleRuns: 1 },
  ],
  [
    'completed nothing three times',
    { transition: null },
    ended.outcome,
    2,
    { action: 'hold', code: 'phase_not_completed' },
  ],
  ['failed and completed nothing', { transition: null }, failed, 0, { action: 'hold', code: 'retries_exhausted' }],
] as const)('a phase that %s', (_title, { transition }, outcome, staleBefore, decision) => {
  expect(decideAfterExit({ ...ended, outcome, staleBefore, phase: { name: 'research', transition } })).toMatchObject(
    decision,
  );
});

it('names the command that accepts the artifact when its judge gave no verdict, and not for the judge of a change', () => {
  const reasons = ['research', 'ready'].map((name) => {
    const judge = { hasVerdict: false, withoutVerdict: 'hold' } as const;
    const decision = decideAfterExit({ ...ended, staleBefore: 2, phase: { name, transition: null }, judge });
    return decision.action === 'hold' ? [decision.code, decision.reason.includes(approveCommand('BAT-1'))] : null;
  });
  expect(reasons).toEqual([
    ['judge_without_verdict', true],
    ['judge_without_verdict', false],
  ]);
});

it('waits longer after each run that completed nothing', () => {
  const delays = [0, 1].map((staleBefore) => {
    const decision = decideAfterExit({ ...ended, staleBefore, phase: { name: 'research', transition: null } });
    return decision.action === 'retry' ? decision.delayMs : 0;
  });
  expect(delays[1]).toBeGreaterThan(delays[0] ?? 0);
});
