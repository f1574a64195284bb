import { describe, expect, it } from 'vitest';
import { comparePrompts, measurePrompts, type PromptRun } from '../../../src/core/prompt/prompt-metrics.ts';
import { middleText, shareText, tokensText } from '../../../src/core/prompt/prompt-text.ts';

let made = 0;
function run(version: string, more: Partial<PromptRun> = {}): PromptRun {
  made += 1;
  return {
    ...{ runId: `r${made}`, issueId: `i${made}`, version, source: 'WORKFLOW.md', role: 'worker', agent: 'default' },
    ...{ startedAt: made, endedAt: made + 10, outcome: 'succeeded', tokens: 100, costMicroUsd: 5 },
    ...more,
  };
}

const none = { results: [], merges: [] };

describe('the metrics of a prompt', () => {
  // @conforms 4.131
  it('count runs by version, role and agent, or over all agents', () => {
    const facts = {
      runs: [run('a'), run('a', { agent: 'other' }), run('b'), run('a', { role: 'judge' })],
      ...none,
    };
    const keys = measurePrompts(facts, 'agent').map(({ version, role, agent, runs }) => [version, role, agent, runs]);
    expect(keys).toEqual([
      ['a', 'judge', 'default', 1],
      ['b', 'worker', 'default', 1],
      ['a', 'worker', 'other', 1],
      ['a', 'worker', 'default', 1],
    ]);
    expect(measurePrompts(facts, 'role').map(({ agent, runs }) => [agent, runs])).toEqual([
      [null, 1],
      [null, 1],
      [null, 2],
    ]);
  });

  // @conforms 4.131
  it.each([
    ['succeeded', 1, 1],
    ['failed', 0, 1],
    ['timed_out', 0, 1],
    ['stalled', 0, 1],
    ['interrupted', 0, 0],
    ['canceled_by_reconciliation', 0, 0],
    [null, 0, 0],
  ] as const)('a run that ended as %s counts %i of %i', (outcome, count, of) => {
    const [measure] = measurePrompts({ runs: [run('a', { outcome })], ...none }, 'role');
    expect(measure?.success).toMatchObject({ count, of });
  });

  // @conforms 4.131
  it('count what was sent back with the run that handed it in', () => {
    const [first, second] = [run('a'), run('b')];
    const results = [
      { runId: first.runId, isSentBack: true },
      { runId: first.runId, isSentBack: false },
      { runId: second.runId, isSentBack: false },
      { runId: 'unknown', isSentBack: true },
    ];
    const measures = measurePrompts({ runs: [first, second], results, merges: [] }, 'role');
    expect(measures.map(({ version, sentBack }) => [version, sentBack.count, sentBack.of])).toEqual([
      ['b', 0, 1],
      ['a', 1, 2],
    ]);
  });

  // @conforms 4.131
  it('take the time to merge from the first run, and only of issues with one prompt', () => {
    const runs = [
      run('a', { issueId: 'one', startedAt: 100 }),
      run('a', { issueId: 'one', startedAt: 300 }),
      run('a', { issueId: 'mixed', startedAt: 100 }),
      run('b', { issueId: 'mixed', startedAt: 200 }),
      run('b', { issueId: 'judged', startedAt: 100 }),
      run('c', { issueId: 'judged', startedAt: 200, role: 'judge' }),
      run('a', { issueId: 'open', startedAt: 100 }),
    ];
    const merges = ['one', 'mixed', 'judged', 'elsewhere'].map((issueId) => ({ issueId, at: 1_000 }));
    const times = measurePrompts({ runs, results: [], merges }, 'role').map(({ version, toMergeMs }) => [
      version,
      toMergeMs.of,
      toMergeMs.median,
    ]);
    expect(times).toEqual([
      ['a', 1, 900],
      ['c', 0, null],
      ['b', 1, 900],
    ]);
  });
});

describe('a comparison of two prompts', () => {
  const many = (version: string, of: number, failed: number, tokens: number) =>
    Array.from({ length: of }, (_, n) =>
      run(version, { outcome: n < failed ? 'failed' : 'succeeded', tokens: tokens + n }),
    );
  const compared = (runs: readonly PromptRun[]) => {
    const measures = measurePrompts({ runs, ...none }, 'role');
    const [a, b] = ['a', 'b'].map((wanted) => measures.find(({ version }) => version === wanted));
    if (a === undefined || b === undefined) throw new Error('no two prompts');
    return comparePrompts(a, b);
  };

  // @conforms 4.131
  it('says that three good runs against three bad ones may be chance, and that three values are too few', () => {
    const { differences } = compared([...many('a', 3, 0, 100), ...many('b', 3, 3, 900)]);
    expect(differences).toMatchObject({ success: 'may_be_chance', tokens: 'too_few', sentBack: 'too_few' });
  });

  // @conforms 4.131
  it('says that many differ, and whether they were used at the same time', () => {
    const apart = compared([...many('a', 30, 2, 100), ...many('b', 30, 25, 900)]);
    expect(apart.differences).toMatchObject({ success: 'differs', tokens: 'differs' });
    expect(apart.sameTime).toBe(false);
    const mixed = compared([...many('a', 5, 2, 1), ...many('b', 7, 1, 1), ...many('a', 5, 2, 1)]);
    expect(mixed.sameTime).toBe(true);
    expect(mixed.differences).toMatchObject({ success: 'may_be_chance', tokens: 'may_be_chance' });
    const equal = compared([...many('a', 6, 3, 1), ...many('b', 6, 3, 1)]);
    expect(equal.differences).toMatchObject({ success: 'none_seen', tokens: 'none_seen' });
  });
});

// @conforms 4.131
it('a share is never shown as a percentage alone, nor a median of few values as an interval', () => {
  const [few] = measurePrompts({ runs: [run('a'), run('a', { outcome: 'failed', tokens: 300 })], ...none }, 'role');
  if (few === undefined) throw new Error('no metrics');
  expect(shareText(few.success)).toBe('1 of 2 (9–91 %)');
  expect(shareText(few.sentBack)).toBe('-');
  expect(middleText(few.tokens, tokensText)).toBe('200 (2 values, 100 to 300)');
});
