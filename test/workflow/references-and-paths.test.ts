import { describe, expect, it } from 'vitest';
import { given, givenLinear, givenMemory, problemsIn, refusal } from './given.ts';

const rootOf = (root: string, env: Record<string, string> = {}) =>
  givenMemory(`workspace: {root: ${root}}`, env).settings.workspace.root;

describe('workspace.root', () => {
  // @conforms C50
  it('resolves ~ to the home directory', () => {
    expect(rootOf('~/.symphony-workspaces')).toBe('/home/me/.symphony-workspaces');
    expect(rootOf('"~"')).toBe('/home/me');
    expect(rootOf('"~other/x"')).toBe('/repo/~other/x');
  });

  // @conforms C59
  it('resolves a relative path from the directory of the workflow file', () => {
    expect(rootOf('relative-workspaces')).toBe('/repo/relative-workspaces');
    expect(rootOf('../up')).toBe('/up');
    expect(rootOf('/a/../b')).toBe('/b');
  });

  it('reads a value that is exactly $NAME from the environment, then treats it as a path', () => {
    expect(rootOf('$WS', { WS: '/data' })).toBe('/data');
    expect(rootOf('$WS', { WS: '~/w' })).toBe('/home/me/w');
    expect(rootOf('$WS', { WS: 'w' })).toBe('/repo/w');
  });

  it('uses the default for an unset or blank variable, with a warning', () => {
    for (const env of [{}, { WS: '' }, { WS: '  ' }]) {
      const { settings, warnings } = givenMemory('workspace: {root: $WS}', env as Record<string, string>);
      expect(settings.workspace.root).toBe('/state/workspaces');
      expect(warnings).toMatchObject([{ code: 'doubtful_reference', key: 'workspace.root' }]);
    }
    expect(rootOf('""')).toBe('/state/workspaces');
    expect(rootOf('$constructor')).toBe('/state/workspaces');
  });

  // @conforms X17
  it('uses $HOME/x as written, with a warning', () => {
    for (const literal of ['$HOME/x', '"$'.concat('{HOME}"'), '/data/$USER/x', '$1X']) {
      const { settings, warnings } = givenMemory(`workspace: {root: ${literal}}`, { HOME: '/no', USER: 'no' });
      expect(settings.workspace.root, literal).toContain(literal.replaceAll('"', ''));
      expect(warnings, literal).toMatchObject([{ code: 'doubtful_reference', key: 'workspace.root' }]);
    }
    expect(givenMemory('workspace: {root: env:NAME}').warnings).toEqual([]);
  });
});

describe('provider keys', () => {
  it('resolve $NAME only as the whole value', () => {
    const env = { SLUG: 'from-env', LINEAR_API_KEY: 'k', LINEAR_ASSIGNEE: 'me' };
    const { provider } = givenLinear('{project_slug: $SLUG}', env).settings.tracker;
    expect(provider).toMatchObject({ project_slug: 'from-env', assignee: 'me' });
    const literal = givenLinear('{project_slug: x-$SLUG, assignee: $1X}', env);
    expect(literal.settings.tracker.provider).toMatchObject({ project_slug: 'x-$SLUG', assignee: '$1X' });
    expect(literal.warnings).toMatchObject([{ code: 'doubtful_reference', key: 'tracker.provider.assignee' }]);
  });

  it('of the type path follow the rules for paths', () => {
    const fileOf = (value: string, env: Record<string, string> = {}) =>
      given(`tracker: {kind: memory, provider: {issues_file: ${value}}}`, env).settings.tracker.provider.issues_file;
    expect(fileOf('issues.json')).toBe('/repo/issues.json');
    expect(fileOf('~/issues.json')).toBe('/home/me/issues.json');
    expect(fileOf('$F', { F: '/x/y' })).toBe('/x/y');
    expect(fileOf('$F')).toBeNull();
    const error = refusal(() => given('tracker: {kind: memory, provider: {issues_file: [a]}}'));
    expect(error.code).toBe('invalid_tracker_config');
    expect(problemsIn(error)).toMatchObject([
      { key: 'tracker.provider.issues_file', details: { problem: 'wrong_value', expected: 'path' } },
    ]);
  });

  it('accept a secret in plain text with a warning, and never print it', () => {
    const workflow = givenLinear('{api_key: lin_api_very_secret, project_slug: p}');
    expect(workflow.warnings).toMatchObject([{ code: 'literal_secret', key: 'tracker.provider.api_key' }]);
    expect(JSON.stringify([workflow.settings, workflow.warnings, workflow.described])).not.toContain('very_secret');
    const bad = refusal(() => givenLinear('{api_key: [lin_api_very_secret]}'));
    expect(JSON.stringify(bad) + bad.message).not.toContain('very_secret');
    expect(givenLinear('{project_slug: p}', { LINEAR_API_KEY: 'k' }).warnings).toEqual([]);
  });

  it('are trimmed, so that the newline at the end of a secret file is not part of the secret', () => {
    const { provider } = givenLinear('{project_slug: " p "}', { LINEAR_API_KEY: 'k', LINEAR_ASSIGNEE: ' me\n' })
      .settings.tracker;
    expect(provider).toMatchObject({ project_slug: 'p', assignee: 'me' });
  });
});
