import { describe, expect, it } from 'vitest';
import { given, givenMemory, keysIn, problemsIn, refusal } from './given.ts';

const warnings = (frontMatter: string) => givenMemory(frontMatter).warnings;

describe('settings of features that do not exist yet', () => {
  // @conforms workflow.2
  it('reject worker.ssh_hosts unless it is empty', () => {
    const error = refusal(() => givenMemory('worker: {ssh_hosts: [one.example]}'));
    expect(error.code).toBe('unsupported_setting');
    expect(keysIn(error)).toEqual(['worker.ssh_hosts']);
    expect(warnings('worker: {ssh_hosts: []}')).toEqual([]);
  });

  // @conforms C32
  it('check worker.max_concurrent_agents_per_host and warn that it has no effect', () => {
    const error = refusal(() => givenMemory('worker: {max_concurrent_agents_per_host: 0}'));
    expect(keysIn(error)).toEqual(['worker.max_concurrent_agents_per_host']);
    expect(warnings('worker: {max_concurrent_agents_per_host: 2}')).toMatchObject([
      { code: 'unsupported_setting', severity: 'warning', key: 'worker.max_concurrent_agents_per_host' },
    ]);
  });

  it('accept observability.render_interval_ms with a warning, and the rest of the section without', () => {
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
  // @conforms workflow.3
  it('are reported with the nearest known key', () => {
    const found = warnings(
      'poling: {interval_ms: 5}\nagent: {max_turn: 3, interval_ms: 5}\nzzz: 1\nhooks: {qqqqqqq: 1}',
    );
    expect(found.map(({ code, key, details }) => [code, key, details?.nearest])).toEqual([
      ['unknown_setting', 'poling', 'polling'],
      ['unknown_setting', 'agent.max_turn', 'agent.max_turns'],
      ['unknown_setting', 'agent.interval_ms', 'polling.interval_ms'],
      ['unknown_setting', 'zzz', null],
      ['unknown_setting', 'hooks.qqqqqqq', null],
    ]);
    expect(found[1]?.message).toContain('agent.max_turns');
  });

  it('of the tracker depend on its kind', () => {
    const memory = given('tracker: {kind: memory, api_key: x, provider: {isues_file: a.json}}');
    expect(memory.warnings).toMatchObject([
      { code: 'unknown_setting', key: 'tracker.api_key', details: { nearest: null } },
      {
        code: 'unknown_setting',
        key: 'tracker.provider.isues_file',
        details: { nearest: 'tracker.provider.issues_file' },
      },
    ]);
    expect(memory.settings.tracker.provider).toEqual({ isues_file: 'a.json', issues_file: null });
  });

  it('do not hide a misspelt kind', () => {
    const error = refusal(() => given('tracker: {knd: memory}'));
    expect(error.code).toBe('missing_tracker_kind');
    expect(problemsIn(error)[0]).toMatchObject({ details: { allowed: ['memory', 'linear', 'board'] } });
  });
});
