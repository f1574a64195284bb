import { describe, expect, it } from 'vitest';
import { limitsSwitchedOff } from '../../src/core/run/limits.ts';
import { settings as fakeSettings } from '../fake/settings.ts';
import { givenMemory, keysIn, problemsIn, refusal } from './given.ts';

const refused = (frontMatter: string) => refusal(() => givenMemory(frontMatter));

describe('limits', () => {
  // @conforms limits.1
  it('are on by default, but for the money of one issue', () => {
    const { limits, agent, polling, store } = givenMemory('').settings;
    expect(limits).toEqual({
      runsPerIssue: 30,
      tokensPerIssue: 20_000_000,
      runWallTimeMs: 14_400_000,
      issueWallTimeMs: 86_400_000,
      usdPerIssue: 0,
      tokensPerDay: 100_000_000,
      usdPerDay: 100,
    });
    expect(agent).toMatchObject({ maxRetries: 3, maxStaleRuns: 3 });
    expect(polling.freshnessMs).toBe(1000);
    expect(store.leaseMs).toBe(30_000);
  });

  it('in the test settings equal those of an empty file', () => {
    const { limits, polling, store, tracker, agent } = givenMemory('').settings;
    const { reviewStates } = tracker;
    const { maxInReview, maxClaimed } = agent;
    expect(fakeSettings()).toMatchObject({ limits, polling, store, tracker: { reviewStates } });
    expect(fakeSettings()).toMatchObject({ agent: { maxInReview, maxClaimed } });
  });

  it('come from the file, each under its own key', () => {
    const { settings, warnings } = givenMemory(`
limits: {runs_per_issue: 1, tokens_per_issue: "2", run_wall_time_ms: 3, issue_wall_time_ms: 4, usd_per_issue: 2.5, tokens_per_day: 6, usd_per_day: "0.75"}
agent: {max_retries: 7, max_stale_runs: 8, max_in_review: 0, max_claimed: "9"}
polling: {freshness_ms: 0}
store: {lease_ms: 3000}`);
    expect(settings.limits).toEqual({
      runsPerIssue: 1,
      tokensPerIssue: 2,
      runWallTimeMs: 3,
      issueWallTimeMs: 4,
      usdPerIssue: 2.5,
      tokensPerDay: 6,
      usdPerDay: 0.75,
    });
    expect(settings.agent).toMatchObject({ maxRetries: 7, maxStaleRuns: 8, maxInReview: 0, maxClaimed: 9 });
    expect(settings.polling.freshnessMs).toBe(0);
    expect(settings.store.leaseMs).toBe(3000);
    expect(warnings).toEqual([]);
  });

  it.each([
    'limits.runs_per_issue',
    'limits.tokens_per_issue',
    'limits.run_wall_time_ms',
    'limits.issue_wall_time_ms',
    'limits.tokens_per_day',
    'agent.max_retries',
    'agent.max_stale_runs',
    'agent.max_in_review',
    'agent.max_claimed',
    'polling.freshness_ms',
  ])('%s is a whole number, 0 or more', (key) => {
    const [section = '', name = ''] = key.split('.');
    const error = refused(`${section}: {${name}: -1}`);
    expect(problemsIn(error)).toMatchObject([{ key, details: { problem: 'wrong_value', expected: 'natural_number' } }]);
    expect(error.message).toContain('-1');
    for (const bad of ['1.5', '"-1"', 'off', '.nan', '.inf', '[1]', 'true', '""'])
      expect(keysIn(refused(`${section}: {${name}: ${bad}}`)), bad).toEqual([key]);
  });

  it.each(['usd_per_issue', 'usd_per_day'])(
    'limits.%s is an amount, and rejects one that is too small to count',
    (name) => {
      const amountOf = (text: string) => {
        const { limits } = givenMemory(`limits: {${name}: ${text}}`).settings;
        return name === 'usd_per_day' ? limits.usdPerDay : limits.usdPerIssue;
      };
      expect(['0', '"0"', '12', '0.01', '"2.50"', '0.000001', '"0.000001"', '999999999'].map(amountOf)).toEqual([
        0, 0, 12, 0.01, 2.5, 0.000_001, 0.000_001, 999_999_999,
      ]);
      for (const bad of [
        '-1',
        '-0.01',
        '0.0000001',
        '"0.0000001"',
        '"$5"',
        '"5 USD"',
        '"1,000"',
        '"5."',
        '1000000000',
        '"999999999.5"',
        '.nan',
        '.inf',
        'true',
        '[5]',
      ]) {
        expect(keysIn(refused(`limits: {${name}: ${bad}}`)), bad).toEqual([`limits.${name}`]);
      }
      const error = refused(`limits: {${name}: -1}`);
      expect(problemsIn(error)).toMatchObject([{ details: { problem: 'wrong_value', expected: 'usd_amount' } }]);
      expect(error.message).toMatch(/0\.000001.*-1/);
    },
  );

  it('of a lease are at least three seconds', () => {
    const error = refused('store: {lease_ms: 2999}');
    expect(problemsIn(error)).toMatchObject([
      { key: 'store.lease_ms', details: { problem: 'wrong_value', expected: 'lease_time' } },
    ]);
    expect(error.message).toMatch(/3000.*2999/);
    expect(givenMemory('store: {lease_ms: 3000}').settings.store.leaseMs).toBe(3000);
  });

  it('report a misspelt key together with the nearest known one', () => {
    const { warnings } = givenMemory('limits: {token_per_issue: 5}\nlimit: {runs_per_issue: 5}');
    expect(warnings).toMatchObject([
      { code: 'unknown_setting', key: 'limits.token_per_issue', details: { nearest: 'limits.tokens_per_issue' } },
      { code: 'unknown_setting', key: 'limit', details: { nearest: 'limits' } },
    ]);
  });

  // @conforms limits.2
  it('that are on by default are all named when set to 0, and no others', () => {
    const described = givenMemory('').described;
    const isLimit = (key: string): boolean => /^limits\.|^agent\.max_(?:retries|stale_runs)$/.test(key);
    const limits = described.filter(({ key }) => isLimit(key));
    const lines = limits.map(({ key }) => key.split('.'));
    const section = (name: string): string =>
      `${name}: {${lines.flatMap(([of, key]) => (of === name ? [`${key}: 0`] : [])).join(', ')}}`;
    const { settings } = givenMemory(`${section('limits')}\n${section('agent')}`);
    const onByDefault = limits.filter(({ value }) => value !== 0).map(({ key }) => key);
    expect(onByDefault).toHaveLength(8);
    expect([...limitsSwitchedOff(settings)].sort()).toEqual(onByDefault.sort());
  });
});
