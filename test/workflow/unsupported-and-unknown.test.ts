import { describe, expect, it } from 'vitest';
import { given, givenMemory, refusal } from './given.ts';

const warnings = (frontMatter: string) => givenMemory(frontMatter).warnings;

describe('settings of features that do not exist yet', () => {
  it('worker.ssh_hosts is an error, unless it is empty', () => {
    const error = refusal(() => givenMemory('worker: {ssh_hosts: [one.example]}'));
    expect(error.code).toBe('unsupported_setting');
    expect(error.message).toContain('worker.ssh_hosts');
    expect(warnings('worker: {ssh_hosts: []}')).toEqual([]);
  });

  it('C32: worker.max_concurrent_agents_per_host is checked, and said to have no effect', () => {
    const error = refusal(() => givenMemory('worker: {max_concurrent_agents_per_host: 0}'));
    expect(error.message).toContain('worker.max_concurrent_agents_per_host');
    expect(warnings('worker: {max_concurrent_agents_per_host: 2}')).toMatchObject([
      { code: 'unsupported_setting', severity: 'warning', key: 'worker.max_concurrent_agents_per_host' },
    ]);
  });

  it('observability.render_interval_ms loads with a warning, the rest of it without', () => {
    const found = warnings(
      'server: {port: 4000, host: 127.0.0.1}\nobservability: {dashboard_enabled: false, refresh_ms: 5, render_interval_ms: 16}',
    );
    expect(found.map((warning) => [warning.key, warning.code])).toEqual([
      ['observability.render_interval_ms', 'unsupported_setting'],
    ]);
    expect(warnings('')).toEqual([]);
  });
});

describe('unknown keys', () => {
  it('are reported with the nearest known one', () => {
    const messages = warnings(
      'poling: {interval_ms: 5}\nagent: {max_turn: 3, interval_ms: 5}\nzzz: 1\nhooks: {qqqqqqq: 1}',
    ).map((warning) => warning.message);
    expect(messages).toEqual([
      'poling is not a setting Baton knows; did you mean polling?',
      'agent.max_turn is not a setting Baton knows; did you mean agent.max_turns?',
      'agent.interval_ms is not a setting Baton knows; did you mean polling.interval_ms?',
      'zzz is not a setting Baton knows',
      'hooks.qqqqqqq is not a setting Baton knows',
    ]);
  });

  it('of the tracker depend on its kind', () => {
    const memory = given('tracker: {kind: memory, api_key: x, provider: {isues_file: a.json}}');
    expect(memory.warnings.map((warning) => warning.message)).toEqual([
      'tracker.api_key is not a setting Baton knows',
      'tracker.provider.isues_file is not a setting Baton knows; did you mean tracker.provider.issues_file?',
    ]);
    expect(memory.settings.tracker.provider).toEqual({ isues_file: 'a.json', issues_file: null });
  });

  it('do not hide a misspelt kind', () => {
    const error = refusal(() => given('tracker: {knd: memory}'));
    expect(error.code).toBe('missing_tracker_kind');
    expect(error.message).toContain('memory, linear');
  });
});
