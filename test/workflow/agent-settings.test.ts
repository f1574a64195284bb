import { describe, expect, it } from 'vitest';
import { given, givenMemory, keysIn, refusal } from './given.ts';

const agentOf = (front: string) => givenMemory(front).settings.agent;
const refused = (front: string) => keysIn(refusal(() => givenMemory(front)));
const describedAs = (front: string, wanted: string) => givenMemory(front).described.find(({ key }) => key === wanted);

describe('the settings of questions, quota and recovery', () => {
  // @conforms tools.13
  it.each([
    ['', 'ask', 'default'],
    [
      'codex: {approval_policy: never}',
      'auto',
      // The setting that the default follows from.
      expect.stringMatching(/^default\b.*codex\.approval_policy/),
    ],
    ['codex: {approval_policy: on-request}', 'ask', 'default'],
    ['codex: {approval_policy: {never: true}}', 'ask', 'default'],
    ['codex: {approval_policy: never}\nagent: {approvals: deny}', 'deny', 'file'],
    ['agent: {approvals: auto}', 'auto', 'file'],
  ])('answer approvals for %j with %s', (front, value, origin) => {
    expect(agentOf(front).approvals).toBe(value);
    expect(describedAs(front, 'agent.approvals')).toEqual({ key: 'agent.approvals', value, origin });
  });

  it.each([
    ['', 900_000],
    ['agent: {approvals: auto}', 0],
    ['codex: {approval_policy: never}', 0],
    ['agent: {approvals: auto, ask_timeout_ms: 5000}', 5_000],
  ])('let an agent wait for a person for %j as long as %s ms', (front, value) => {
    expect(agentOf(front).askTimeoutMs).toBe(value);
  });

  it('accept values within bounds, including numbers as text', () => {
    expect(
      agentOf(`agent:
  quota_stop_percent: "100"
  ask_timeout_ms: 0
  max_idle_turns: 0
  turn_wall_time_ms: 5
  context_recovery: {reduced_budget_tokens: 1000, compact: "false", fresh_start: false, larger_model: big}`),
    ).toMatchObject({
      quotaStopPercent: 100,
      askTimeoutMs: 0,
      maxIdleTurns: 0,
      turnWallTimeMs: 5,
      contextRecovery: { reducedBudgetTokens: 1000, compact: false, freshStart: false, largerModel: 'big' },
    });
  });

  it.each([
    ['quota_stop_percent: 0', 'agent.quota_stop_percent'],
    ['quota_stop_percent: 101', 'agent.quota_stop_percent'],
    ['quota_stop_percent: 9.5', 'agent.quota_stop_percent'],
    ['approvals: yes', 'agent.approvals'],
    ['approvals: never', 'agent.approvals'],
    ['ask_timeout_ms: -1', 'agent.ask_timeout_ms'],
    ['max_idle_turns: -1', 'agent.max_idle_turns'],
    ['turn_wall_time_ms: x', 'agent.turn_wall_time_ms'],
    ['context_recovery: true', 'agent.context_recovery'],
    ['context_recovery: {reduced_budget_tokens: 0}', 'agent.context_recovery.reduced_budget_tokens'],
    ['context_recovery: {compact: maybe}', 'agent.context_recovery.compact'],
    ['context_recovery: {larger_model: " "}', 'agent.context_recovery.larger_model'],
  ])('reject %s and name the key', (line, key) => {
    expect(refused(`agent: {${line}}`)).toEqual([key]);
  });

  it('warn about an unknown recovery step', () => {
    const { warnings } = givenMemory('agent: {context_recovery: {compakt: true}}');
    expect(warnings).toMatchObject([
      { code: 'unknown_setting', details: { nearest: 'agent.context_recovery.compact' } },
    ]);
  });

  it('accept the tool modes of Codex and no others', () => {
    expect(givenMemory('codex: {tools: mcp}').settings.backends.codex?.tools).toBe('mcp');
    expect(refused('codex: {tools: all}')).toEqual(['codex.tools']);
  });
});

describe('agent.prices', () => {
  it('are US dollars per million tokens, by model', () => {
    const front =
      'agent: {prices: {gpt-5: {input: 1.25, cached_input: "0.125", output: 10}, "*": {input: 0, output: 3}}}';
    expect(agentOf(front).prices).toEqual({
      'gpt-5': { input: 1.25, cachedInput: 0.125, output: 10 },
      '*': { input: 0, cachedInput: null, output: 3 },
    });
    expect(describedAs(front, 'agent.prices')?.value).toEqual({
      'gpt-5': { input: 1.25, cached_input: 0.125, output: 10 },
      '*': { input: 0, cached_input: 0, output: 3 },
    });
  });

  it.each([
    ['5', 'agent.prices'],
    ['{m: 5}', 'agent.prices.m'],
    ['{m: {input: 1}}', 'agent.prices.m.output'],
    ['{m: {input: -1, output: 1}}', 'agent.prices.m.input'],
    ['{m: {input: 1, output: .inf}}', 'agent.prices.m.output'],
    ['{m: {input: 1, output: 1, reasoning: 1}}', 'agent.prices.m.reasoning'],
    ['{" ": {input: 1, output: 1}}', 'agent.prices'],
  ])('reject %s and name the key', (prices, key) => {
    expect(refused(`agent: {prices: ${prices}}`)).toEqual([key]);
  });
});

describe('tracker.trusted_authors', () => {
  const linear = (more: string) =>
    given(`tracker: {kind: linear, provider: {api_key: k, project_slug: p}${more}}`).settings.tracker.trustedAuthors;

  it('are empty by default; people on this machine count when the tracker is on this machine', () => {
    expect(linear('')).toEqual([]);
    expect(givenMemory('').settings.tracker.trustedAuthors).toEqual(['local']);
    expect(given('tracker: {kind: board, trusted_authors: [ada, local]}').settings.tracker.trustedAuthors).toEqual([
      'local',
      'ada',
    ]);
  });

  it('are trimmed names', () => {
    expect(linear(', trusted_authors: [" ada@example.org ", u-1]')).toEqual(['ada@example.org', 'u-1']);
    for (const bad of ['ada', '[5]', '[" "]', '{ada: true}']) {
      const error = refusal(() => given(`tracker: {kind: memory, trusted_authors: ${bad}}`));
      expect(keysIn(error)[0]).toContain('tracker.trusted_authors');
    }
  });
});
