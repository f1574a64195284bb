import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenMeter } from '../../../../src/agent/codex/turn/token-usage.ts';

type Params = Record<string, unknown>;

const read = (meter: TokenMeter, params: Params, method = 'thread/tokenUsage/updated') => {
  const usage = meter.read(method, params, { method, params });
  return usage === null ? null : [usage.inputTokens, usage.outputTokens, usage.totalTokens];
};
const totals = (input: number, output: number, more: Params = {}): Params => ({
  tokenUsage: { total: { inputTokens: input, outputTokens: output, totalTokens: input + output }, ...more },
});
const last = (input: number, output: number): Params => ({
  last: { inputTokens: input, outputTokens: output, totalTokens: input + output },
});

describe('the tokens of a session', () => {
  // @conforms K2, K4
  it('are the totals of the thread (K2), also with older names and as text (K4)', () => {
    expect(read(new TokenMeter(), totals(12, 4))).toEqual([12, 4, 16]);
    const meter = new TokenMeter();
    const older = (total: Params): Params => ({ msg: { type: 'token_count', info: { total_token_usage: total } } });
    expect(read(meter, older({ input_tokens: '2', output_tokens: 2, total_tokens: 4 }))).toEqual([2, 2, 4]);
    expect(read(meter, older({ prompt_tokens: 10, completion_tokens: 5, total: 15 }))).toEqual([10, 5, 15]);
  });

  // @conforms K5
  it('are never the count of one call (K5)', () => {
    const info = {
      last_token_usage: { input_tokens: 2, output_tokens: 1, total_tokens: 3 },
      total_token_usage: { input_tokens: 200, output_tokens: 100, total_tokens: 300 },
    };
    expect(read(new TokenMeter(), { msg: { payload: { info } } })).toEqual([200, 100, 300]);
    expect(read(new TokenMeter(), { tokenUsage: last(2, 1) })).toBeNull();
  });

  // @conforms K7
  it('come from the end of a turn only if no other frame had them (K7)', () => {
    const usage = { usage: { input_tokens: '12', output_tokens: 4, total_tokens: 16 } };
    expect(read(new TokenMeter(), usage, 'turn/completed')).toEqual([12, 4, 16]);
    const meter = new TokenMeter();
    read(meter, totals(100, 10));
    expect(read(meter, usage, 'turn/completed')).toBeNull();
    expect(read(new TokenMeter(), usage, 'item/completed')).toBeNull();
  });

  it('have a total even if none is reported, and ignore values that cannot be a count', () => {
    expect(read(new TokenMeter(), { tokenUsage: { total: { inputTokens: 3, outputTokens: 4 } } })).toEqual([3, 4, 7]);
    expect(read(new TokenMeter(), { tokenUsage: { total: { inputTokens: -3, outputTokens: 'x' } } })).toBeNull();
  });

  it('of a resumed thread start at the usage that Codex repeats before any turn', () => {
    const meter = new TokenMeter();
    meter.resume('t');
    expect(read(meter, { threadId: 't', turnId: 'old', ...totals(300, 60, last(100, 20)) })).toBeNull();
    meter.beginTurn('new');
    expect(read(meter, { threadId: 't', turnId: 'new', ...totals(400, 80, last(100, 20)) })).toEqual([100, 20, 120]);
  });

  it('of a resumed thread start before its first call if Codex repeats nothing, even if that call is late', () => {
    const silent = new TokenMeter();
    silent.resume('t');
    silent.beginTurn('new');
    expect(read(silent, { threadId: 't', turnId: 'new', ...totals(400, 80, last(100, 20)) })).toEqual([100, 20, 120]);
    const late = new TokenMeter();
    late.resume('t');
    late.beginTurn('new');
    expect(read(late, { threadId: 't', turnId: 'old', ...totals(300, 60, last(100, 20)) })).toBeNull();
    expect(read(late, { threadId: 't', turnId: 'new', ...totals(400, 80, last(100, 20)) })).toEqual([100, 20, 120]);
  });

  it('include the threads of helpers', () => {
    const meter = new TokenMeter();
    read(meter, { threadId: 'own', ...totals(10, 1) });
    expect(read(meter, { threadId: 'helper', ...totals(5, 5) })).toEqual([15, 6, 21]);
  });

  // @conforms ref-3.7
  it('of an old helper start before its first call in this session, and those of a new helper at zero', () => {
    const meter = new TokenMeter();
    meter.resume('own');
    meter.main = 'own';
    read(meter, { threadId: 'own', turnId: 'old', ...totals(4_000, 400, last(1_000, 100)) });
    meter.beginTurn('new');
    const older = { threadId: 'older helper', turnId: 'its own' };
    expect(read(meter, { ...older, ...totals(2_000, 200, last(1_000, 100)) })).toEqual([1_000, 100, 1_100]);
    expect(read(meter, { ...older, ...totals(3_000, 300, last(1_000, 100)) })).toEqual([2_000, 200, 2_200]);
    const fresh = { threadId: 'new helper', turnId: 'its own' };
    expect(read(meter, { ...fresh, ...totals(10, 1, last(10, 1)) })).toEqual([2_010, 201, 2_211]);
  });

  it('are counted once when reported with and without the name of the thread', () => {
    const meter = new TokenMeter();
    meter.main = 'own';
    read(meter, { threadId: 'own', ...totals(100, 10) });
    const info = { total_token_usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 } };
    expect(read(meter, { msg: { type: 'token_count', info } })).toEqual([100, 10, 110]);
  });

  it.each([1e300, 1e12, 2.5, Number.MAX_SAFE_INTEGER, -1, '1e40'])('are never %s', (count) => {
    const told = (parts: Params): Params => ({ tokenUsage: { total: parts } });
    const meter = new TokenMeter();
    expect(read(meter, told({ inputTokens: count, outputTokens: count, totalTokens: count }))).toBeNull();
    expect(read(meter, told({ inputTokens: count, outputTokens: 1, totalTokens: count }))).toEqual([0, 1, 1]);
    expect(read(meter, told({ inputTokens: 5, outputTokens: 2, totalTokens: 7 }))).toEqual([5, 2, 7]);
  });

  it('are counted once for each thread, also for more threads than any session has', () => {
    const meter = new TokenMeter();
    meter.main = 'own';
    read(meter, { threadId: 'own', ...totals(100, 10, last(100, 10)) });
    for (let helper = 0; helper < 5_000; helper += 1)
      read(meter, { threadId: `helper ${helper}`, ...totals(2, 1, last(2, 1)) });
    expect(read(meter, { threadId: 'own', ...totals(200, 20, last(100, 10)) })).toEqual([10_200, 5_020, 15_220]);
    const again = { threadId: 'helper 0', ...totals(4, 2, last(2, 1)) };
    expect(read(meter, again)).toEqual([10_202, 5_021, 15_223]);
  });

  it('take the same time to count for any number of threads', () => {
    const meter = new TokenMeter();
    meter.main = 'own';
    const begin = performance.now();
    for (let turn = 0; turn < 200_000; turn += 1)
      read(meter, { threadId: `helper ${turn % 2_000}`, ...totals(turn, turn, last(1, 1)) });
    // A sum over all threads at each report would take minutes.
    expect(performance.now() - begin).toBeLessThan(20_000);
  });

  it('never decrease and are the highest reported values, in any order of reports', () => {
    const report = fc.tuple(fc.nat(1_000), fc.nat(1_000));
    fc.assert(
      fc.property(fc.array(report, { minLength: 1 }), (reports) => {
        const meter = new TokenMeter();
        const told = reports.map(([input, output]) => read(meter, totals(input, output)) ?? []);
        expect(told).toEqual(told.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0)));
        expect(told.at(-1)?.[0]).toBe(Math.max(...reports.map(([input]) => input)));
      }),
    );
  });
});
