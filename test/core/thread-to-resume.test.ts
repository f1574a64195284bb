import { expect, it } from 'vitest';
import { type RunWithThread, threadToResume } from '../../src/core/thread-to-resume.ts';

const run = (threadId: string | null, retryKind: RunWithThread['retryKind'] = null, backend = 'codex') => ({
  ...{ threadId, retryKind, backend },
});
const start = (retryKind: RunWithThread['retryKind'], recovery: 'compact' | 'fresh_start' | null = null) => ({
  ...{ retryKind, recovery, backend: 'codex' },
});

it.each(['interrupted', 'quota', 'answered', 'handed_back'] as const)('%s goes on in the same thread', (kind) => {
  expect(threadToResume(start(kind), [run('t')])).toBe('t');
});

it.each([null, 'failure', 'continuation'] as const)('%s begins anew', (kind) => {
  expect(threadToResume(start(kind), [run('t')])).toBeNull();
});

it('a thread that is made shorter goes on, though its run failed', () => {
  expect(threadToResume(start('failure', 'compact'), [run('t')])).toBe('t');
  expect(threadToResume(start('failure', 'fresh_start'), [run('t')])).toBeNull();
});

it('a thread belongs to its backend', () => {
  expect(threadToResume(start('interrupted'), [run('t', null, 'command')])).toBeNull();
});

it('runs that were to go on and died before their session are passed over', () => {
  const dead = run(null, 'interrupted');
  expect(threadToResume(start('interrupted'), [dead, run(null, 'quota'), run('t')])).toBe('t');
  // That one was to begin anew, so there is nothing to go on with.
  expect(threadToResume(start('interrupted'), [dead, run(null, 'failure'), run('t')])).toBeNull();
  expect(threadToResume(start('interrupted'), [])).toBeNull();
});
