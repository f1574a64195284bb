import { describe, expect, it } from 'vitest';
import { given, givenLinear, givenMemory, refusal } from '../given.ts';

const originsIn = (workflow: ReturnType<typeof given>) =>
  Object.fromEntries(workflow.described.map(({ key, origin }) => [key, origin]));
const valuesIn = (workflow: ReturnType<typeof given>) =>
  Object.fromEntries(workflow.described.map(({ key, value }) => [key, value]));

describe('the settings in force', () => {
  // @conforms workflow.5
  it('show where each comes from', () => {
    const origins = originsIn(
      given(
        `tracker: {kind: linear, project_slug: p, provider: {api_key: $KEY}}
workspace: {root: $WS}
polling: {interval_ms: 5}
codex: {turn_timeout_ms: 7}`,
        { KEY: 'k', WS: '/w', LINEAR_ASSIGNEE: 'me' },
      ),
    );
    expect(origins).toMatchObject({
      'tracker.kind': 'file',
      'tracker.active_states': 'default',
      'tracker.provider.endpoint': 'default',
      'tracker.provider.api_key': expect.stringMatching(/^file\b.*\$KEY\b/),
      'tracker.provider.project_slug': expect.stringMatching(/^file\b.*\btracker\.project_slug\b/),
      'tracker.provider.assignee': expect.stringMatching(/^environment\b.*\$LINEAR_ASSIGNEE\b/),
      'workspace.root': expect.stringMatching(/^file\b.*\$WS\b/),
      'polling.interval_ms': 'file',
      'agent.turn_timeout_ms': expect.stringMatching(/^file\b.*\bcodex\.turn_timeout_ms\b/),
      'agent.read_timeout_ms': 'default',
    });
  });

  it('show the effective value and no secret', () => {
    const workflow = given('tracker: {kind: linear, api_key: $K, project_slug: p, provider: {api_kye: hidden}}', {
      K: 'hidden',
    });
    expect(valuesIn(workflow)).toMatchObject({
      'tracker.provider.api_key': '[secret]',
      'tracker.provider.api_kye': expect.stringMatching(/^\[.*\]$/),
      'tracker.provider.assignee': null,
      'agent.max_turns': 20,
      'workspace.root': '/state/workspaces',
    });
    expect(JSON.stringify(workflow.described)).not.toContain('hidden');
  });

  it('list each setting once, and only those in force', () => {
    const keys = givenMemory('').described.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).not.toContain('codex.turn_timeout_ms');
    expect(keys).not.toContain('observability.render_interval_ms');
    expect(keys).toContain('tracker.provider.issues_file');
  });

  it('show no credentials in an address, and no misplaced secret', () => {
    const { described } = givenLinear(
      '{api_key: k, project_slug: p, endpoint: "https://me:hunter2@proxy.example/graphql"}',
    );
    expect(described.find(({ key }) => key.endsWith('endpoint'))?.value).toBe('https://[secret]@proxy.example/graphql');
    for (const misplaced of [
      'tracker: {kind: linear, provider: hunter2}',
      'tracker: hunter2',
      'tracker: {kind: memory}\nstore: hunter2',
    ]) {
      expect(refusal(() => given(misplaced)).message).not.toContain('hunter2');
    }
  });
});
