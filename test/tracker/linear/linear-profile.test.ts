import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/core/text/secret.ts';
import { readLinearSettings } from '../../../src/tracker/linear/linear-settings.ts';
import { linearProfile } from '../../../src/tracker/linear/profile.ts';
import { linearSettings } from './linear-scene.ts';

const given = (changes: Readonly<Record<string, unknown>>) =>
  linearProfile.check({
    endpoint: 'https://api.linear.app/graphql',
    api_key: new Secret('lin_api_fake'),
    project_slug: 'baton',
    assignee: null,
    allow_insecure_endpoint: false,
    ...changes,
  });

describe('the profile of Linear', () => {
  it('has every key in both spellings', () => {
    expect(linearProfile.keys.every(({ flat }) => flat === true)).toBe(true);
    expect(linearProfile.keys.map(({ name }) => name)).toContain('allow_insecure_endpoint');
  });

  it.each([
    ['https://api.linear.app/graphql', false],
    ['http://127.0.0.1:4000/graphql', false],
    ['http://localhost/graphql', false],
    ['http://linear.internal/graphql', true],
  ])('allows sending the key to %s', (endpoint, allowInsecure) => {
    expect(given({ endpoint, allow_insecure_endpoint: allowInsecure })).toEqual([]);
  });

  it.each(['issue', 'project', 'any', null, undefined])('accepts %s as the scope of agents', (scope) => {
    expect(given({ tool_scope: scope })).toEqual([]);
    const settings = linearSettings(scope === undefined ? {} : { tool_scope: scope });
    const { provider } = settings;
    const wanted = { ...settings, provider: { ...provider, endpoint: 'https://linear.test' } };
    expect(readLinearSettings(wanted).toolScope).toBe(scope ?? 'issue');
  });

  it.each(['Any', 'workspace', '', ' any', 7, true, ['any']])('refuses %j as the scope of agents', (scope) => {
    expect(given({ tool_scope: scope })).toMatchObject([
      {
        code: 'invalid_tracker_config',
        severity: 'error',
        key: 'tracker.provider.tool_scope',
        details: { problem: 'wrong_value', allowed: ['issue', 'project', 'any'] },
      },
    ]);
    expect(() => readLinearSettings(linearSettings({ endpoint: 'https://linear.test', tool_scope: scope }))).toThrow(
      expect.objectContaining({
        code: 'invalid_tracker_config',
        details: { key: 'tracker.provider.tool_scope', problem: 'wrong_value', allowed: ['issue', 'project', 'any'] },
      }),
    );
  });

  it.each([
    ['http://linear.internal/graphql', 'insecure_endpoint'],
    ['http://localhost.evil.test/graphql', 'insecure_endpoint'],
    ['ftp://linear.internal', 'invalid_tracker_config'],
    ['graphql', 'invalid_tracker_config'],
    [7, 'invalid_tracker_config'],
  ])('refuses the address %s', (endpoint, code) => {
    for (const allowed of [false, 'true', undefined]) {
      expect(given({ endpoint, allow_insecure_endpoint: allowed })).toMatchObject([
        { code, severity: 'error', key: 'tracker.provider.endpoint' },
      ]);
    }
  });
});
