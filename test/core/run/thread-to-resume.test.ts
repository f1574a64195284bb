import fc from 'fast-check';
import { expect, it } from 'vitest';
import { missedStart, type RunWithThread, threadToResume } from '../../../src/core/run/thread-to-resume.ts';

const run = (threadId: string | null, retryKind: RunWithThread['retryKind'] = null, backend = 'codex') => ({
  threadId,
  retryKind,
  backend,
});
const start = (retryKind: RunWithThread['retryKind'], recovery: 'compact' | 'fresh_start' | null = null) => ({
  retryKind,
  recovery,
  backend: 'codex',
});

it.each(['interrupted', 'quota', 'answered', 'handed_back'] as const)('%s resumes the same thread', (kind) => {
  expect(threadToResume(start(kind), [run('t')])).toBe('t');
});

it.each([null, 'failure', 'continuation'] as const)('%s starts a new thread', (kind) => {
  expect(threadToResume(start(kind), [run('t')])).toBeNull();
});

it('resumes a thread that is only compacted, although its run failed', () => {
  expect(threadToResume(start('failure', 'compact'), [run('t')])).toBe('t');
  expect(threadToResume(start('failure', 'fresh_start'), [run('t')])).toBeNull();
});

it('resumes a thread only with its own backend', () => {
  expect(threadToResume(start('interrupted'), [run('t', null, 'command')])).toBeNull();
});

// @conforms runs.47
it('resumes the thread in the retry of a run that could not be launched', () => {
  const dead = run(null, 'interrupted');
  expect(threadToResume(start('failure'), [dead, run('t')])).toBe('t');
  // Also one after the other, and when the daemon was stopped between two of them.
  expect(threadToResume(start('failure'), [run(null, 'failure'), run(null, 'failure'), dead, run('t')])).toBe('t');
  expect(threadToResume(start('interrupted'), [run(null, 'failure'), dead, run('t')])).toBe('t');
  const shorter = { ...run(null, 'failure'), recovery: 'compact' as const };
  for (const recovery of [null, 'compact'] as const)
    expect(threadToResume(start('failure', recovery), [shorter, run('t')])).toBe('t');
});

it('starts a new thread after a failure in the thread itself, and in the retries that follow', () => {
  expect(threadToResume(start('failure'), [run('t', 'interrupted'), run('t')])).toBeNull();
  expect(threadToResume(start('failure'), [run(null, 'failure'), run('t', 'interrupted')])).toBeNull();
  const fresh = { ...run(null, 'failure'), recovery: 'fresh_start' as const };
  expect(threadToResume(start('failure', 'fresh_start'), [fresh, run('t')])).toBeNull();
  expect(threadToResume(start('failure'), [run(null, 'continuation'), run('t')])).toBeNull();
  expect(threadToResume(start('failure'), [run(null, null), run('t')])).toBeNull();
});

it('ignores a run of another backend in between', () => {
  const other = run(null, 'failure', 'command');
  expect(threadToResume(start('failure'), [other, run(null, 'quota'), run('t')])).toBe('t');
  expect(threadToResume(start('failure'), [run(null, 'quota'), run('t', null, 'command')])).toBeNull();
});

it('resumes a thread only when no later run of the issue had a session', () => {
  const kinds = [null, 'failure', 'continuation', 'interrupted', 'quota', 'answered', 'handed_back'] as const;
  const some = fc.record({
    threadId: fc.constantFrom(null, null, 't1', 't2'),
    retryKind: fc.constantFrom(...kinds),
    recovery: fc.constantFrom(null, 'compact' as const, 'fresh_start' as const),
    backend: fc.constantFrom('codex', 'command'),
  });
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.array(some, { maxLength: 6 }), (kind, before) => {
      const found = threadToResume(start(kind), before);
      const last = before.find(({ threadId }) => threadId !== null);
      expect([null, last?.backend === 'codex' ? last.threadId : null]).toContain(found);
      // Whatever died before its session changes nothing of where its successor goes on.
      const wanted = threadToResume({ ...start(kind), backend: 'codex' }, before);
      const dead = { threadId: null, retryKind: kind, recovery: null, backend: 'codex' };
      expect(threadToResume(start('failure'), [dead, ...before])).toBe(wanted);
    }),
  );
});

// @conforms tools.25
it('skips runs that died before their session', () => {
  const dead = run(null, 'interrupted');
  expect(threadToResume(start('interrupted'), [dead, run(null, 'quota'), run('t')])).toBe('t');
  // That one was to begin anew, so there is nothing to go on with.
  expect(threadToResume(start('interrupted'), [dead, run(null, 'failure'), run('t')])).toBeNull();
  expect(threadToResume(start('interrupted'), [])).toBeNull();
});

const never = (retryKind: RunWithThread['retryKind'], recovery: RunWithThread['recovery'] = null) => ({
  threadId: null,
  retryKind,
  recovery,
  backend: 'codex',
  turns: 0,
});

it.each(['interrupted', 'quota', 'answered', 'handed_back'] as const)(
  'a missed start as %s stays due until a run has had a session, however often it failed before',
  (kind) => {
    const owed = never(kind);
    const spoken = { ...run('t', 'continuation'), turns: 3 };
    expect(missedStart([owed, spoken])).toBe(owed);
    expect(missedStart([never('failure'), never('failure'), owed, spoken])).toBe(owed);
    expect(missedStart([never('failure'), spoken, owed])).toBeNull();
    // A session without a thread is one, too.
    expect(missedStart([never('failure'), { ...never('failure'), turns: 1 }, owed])).toBeNull();
  },
);

it('a missed recovery step stays due as well, and an ordinary start does not', () => {
  for (const step of ['compact', 'fresh_start', 'larger_model', 'reduced_budget'] as const)
    expect(missedStart([never('failure', step)])).toMatchObject({ recovery: step });
  expect(missedStart([never('failure'), never(null)])).toBeNull();
  expect(missedStart([never('continuation'), never('handed_back')])).toBeNull();
  expect(missedStart([])).toBeNull();
});

// @conforms runs.70
it('a missed start resumes the thread that it should have resumed', () => {
  const some = fc.record({
    threadId: fc.constantFrom(null, null, null, 't1', 't2'),
    retryKind: fc.constantFrom(null, 'failure' as const, 'interrupted' as const, 'handed_back' as const),
    recovery: fc.constantFrom(null, null, 'compact' as const, 'fresh_start' as const),
    backend: fc.constant('codex'),
    turns: fc.constantFrom(0, 0, 1),
  });
  fc.assert(
    fc.property(fc.array(some, { maxLength: 7 }), (before) => {
      const owed = missedStart(before);
      if (owed === null) return;
      const then = threadToResume(owed, before.slice(before.indexOf(owed) + 1));
      expect(threadToResume(owed, before)).toBe(then);
    }),
  );
});

it.each([null, 'continuation', 'revision'] as const)(
  '%s resumes the thread where people have words about it',
  (kind) => {
    const spoken = { ...start(kind as RunWithThread['retryKind']), hasWords: true };
    for (const outcome of ['succeeded', 'canceled_by_reconciliation', 'interrupted'] as const)
      expect(threadToResume(spoken, [{ ...run('t'), finish: { outcome } }])).toBe('t');
    // After a failure the thread may be the cause, whatever people say.
    for (const outcome of ['failed', 'timed_out', 'stalled'] as const)
      expect(threadToResume(spoken, [{ ...run('t'), finish: { outcome } }])).toBeNull();
    const other = { ...run('t', null, 'command'), finish: { outcome: 'succeeded' } } as const;
    expect(threadToResume(spoken, [other])).toBeNull();
  },
);
