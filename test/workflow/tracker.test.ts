import { describe, expect, it } from 'vitest';
import { stateFor } from '../../src/core/issue/state-role.ts';
import { Secret } from '../../src/core/text/secret.ts';
import type { TrackerProfile } from '../../src/core/tracker-profile.ts';
import { parseWorkflow } from '../../src/workflow/load-workflow.ts';
import { telling } from '../telling.ts';
import { given, givenContext, givenLinear, keysIn, path, problemsIn, refusal } from './given.ts';

const keyOf = (workflow: ReturnType<typeof given>): string | null => {
  const key = workflow.settings.tracker.provider.api_key;
  return key instanceof Secret ? key.reveal() : null;
};

const kinds = ['memory', 'linear', 'board'];

describe('tracker.kind', () => {
  it('is required', () => {
    const error = refusal(() => given('polling: {interval_ms: 5}'));
    expect(error.code).toBe('missing_tracker_kind');
    expect(problemsIn(error)).toMatchObject([{ key: 'tracker.kind', details: { allowed: kinds } }]);
    expect(refusal(() => given('tracker: {kind: "  "}')).code).toBe('missing_tracker_kind');
  });

  // @conforms C19
  it('rejects an unknown kind and lists the known ones', () => {
    const error = refusal(() => given('tracker: {kind: "123"}'));
    expect(error.code).toBe('unsupported_tracker_kind');
    expect(error.message).toContain('"123"');
    expect(problemsIn(error)).toMatchObject([{ key: 'tracker.kind', details: { allowed: kinds } }]);
    expect(keysIn(refusal(() => given('tracker: {kind: 123}')))).toEqual(['tracker.kind']);
    expect(refusal(() => given('tracker: {kind: constructor}')).code).toBe('unsupported_tracker_kind');
  });

  // @conforms C41
  it('inherits nothing from Linear for another kind', () => {
    const env = { LINEAR_API_KEY: 'k' };
    const unknown = refusal(() => given('tracker: {kind: future-tracker}', env));
    expect(keysIn(unknown)).toEqual(['tracker.kind']);

    const future: TrackerProfile = {
      kind: 'future-tracker',
      defaultActiveStates: null,
      defaultTerminalStates: null,
      keys: [],
      check: () => [],
    };
    const read = (tracker: string) =>
      parseWorkflow(Buffer.from(`---\ntracker: ${tracker}\n---\n`), path, { ...givenContext(env), trackers: [future] });
    expect(keysIn(refusal(() => read('{kind: future-tracker}')))).toEqual([
      'tracker.active_states',
      'tracker.terminal_states',
    ]);
    const { tracker } = read('{kind: future-tracker, active_states: [], terminal_states: [closed]}').settings;
    expect(tracker).toMatchObject({
      activeStates: [],
      terminalStates: ['closed'],
      provider: {},
      secretEnvironment: [],
    });
  });
});

describe('linear', () => {
  // @conforms C7
  it('rejects a missing project_slug', () => {
    const error = refusal(() => givenLinear('{api_key: token}'));
    expect(error.code).toBe('missing_linear_project_slug');
    expect(keysIn(error)).toEqual(['tracker.provider.project_slug']);
  });

  // @conforms C8
  it('rejects a blank project_slug', () => {
    expect(refusal(() => givenLinear('{api_key: token, project_slug: ""}')).code).toBe('missing_linear_project_slug');
  });

  // @conforms C20
  it('takes its key from LINEAR_API_KEY when the file has none', () => {
    expect(keyOf(givenLinear('{project_slug: p}', { LINEAR_API_KEY: 'test-linear-api-key' }))).toBe(
      'test-linear-api-key',
    );
  });

  // @conforms C37
  it('uses every provider key, and keeps unknown ones', () => {
    const workflow = givenLinear(
      '{endpoint: "https://linear.example/graphql", api_key: token, project_slug: p, extra: {team: platform}}',
    );
    const { provider, secretEnvironment } = workflow.settings.tracker;
    expect(provider).toMatchObject({
      endpoint: 'https://linear.example/graphql',
      project_slug: 'p',
      extra: { team: 'platform' },
      assignee: null,
    });
    expect(keyOf(workflow)).toBe('token');
    expect(secretEnvironment).toEqual(['LINEAR_API_KEY']);
  });

  // @conforms C38
  it('treats a numeric key as missing', () => {
    expect(refusal(() => givenLinear('{api_key: 123, project_slug: p}')).code).toBe('missing_linear_api_token');
  });

  // @conforms C40
  it('rejects a numeric assignee', () => {
    expect(refusal(() => givenLinear('{api_key: t, project_slug: p, assignee: 123}')).code).toBe(
      'invalid_linear_assignee',
    );
  });

  // @conforms C46
  it('treats a key that names a blank variable as missing, without a fallback', () => {
    const error = refusal(() => givenLinear('{api_key: $E, project_slug: p}', { E: '', LINEAR_API_KEY: 'fallback' }));
    expect(error.code).toBe('missing_linear_api_token');
    expect(problemsIn(error)).toMatchObject([{ details: { problem: 'blank', variables: ['E'] } }]);
    expect(error.message).toContain('$E');
  });

  // @conforms C47
  it('falls back when the key names an unset variable', () => {
    const workflow = givenLinear('{api_key: $M, project_slug: p}', { LINEAR_API_KEY: 'fallback-linear-token' });
    expect(keyOf(workflow)).toBe('fallback-linear-token');
    expect(workflow.settings.tracker.secretEnvironment).toEqual(['LINEAR_API_KEY', 'M']);
    const error = refusal(() => givenLinear('{api_key: $M, project_slug: p}'));
    expect(problemsIn(error)).toMatchObject([{ details: { problem: 'not_set', variables: ['M', 'LINEAR_API_KEY'] } }]);
    expect(error.message).toMatch(/\$M\b.*\$LINEAR_API_KEY/);
  });

  it('rejects an endpoint that is not a web address', () => {
    for (const endpoint of ['linear', '""', '"file:///etc/passwd"', '5']) {
      const error = refusal(() => givenLinear(`{api_key: t, project_slug: p, endpoint: ${endpoint}}`));
      expect(error, endpoint).toMatchObject({ code: 'invalid_tracker_config' });
    }
  });

  it('sends its key over http only to this machine, unless the file allows more', () => {
    const linear = (more: string) => givenLinear(`{api_key: $K, project_slug: p, ${more}}`, { K: 'k' });
    const far = 'endpoint: "http://linear.example/graphql"';
    expect(refusal(() => linear(far))).toMatchObject({ code: 'insecure_endpoint' });
    expect(linear(`${far}, allow_insecure_endpoint: "true"`).warnings).toEqual([]);
    expect(linear('endpoint: "http://127.0.0.1:1/graphql"').warnings).toEqual([]);
    expect(keysIn(refusal(() => linear('allow_insecure_endpoint: perhaps')))).toEqual([
      'tracker.provider.allow_insecure_endpoint',
    ]);
  });

  it('reports several problems in one error', () => {
    const error = refusal(() => givenLinear('{assignee: 1}'));
    expect(error.code).toBe('invalid_workflow_config');
    expect(keysIn(error)).toEqual([
      'tracker.provider.api_key',
      'tracker.provider.project_slug',
      'tracker.provider.assignee',
    ]);
  });

  // @conforms history-3
  it('reads the older spelling directly under tracker, and prefers the provider section', () => {
    const legacy = given(
      'tracker: {kind: linear, endpoint: "http://127.0.0.1:1/graphql", api_key: $K, project_slug: old, assignee: me}',
      { K: 'key' },
    );
    expect(legacy.settings.tracker.provider).toMatchObject({
      endpoint: 'http://127.0.0.1:1/graphql',
      project_slug: 'old',
      assignee: 'me',
    });
    expect(keyOf(legacy)).toBe('key');
    expect(legacy.warnings).toEqual([]);
    const both = given(
      'tracker: {kind: linear, api_key: $K, project_slug: old, provider: {api_key: $N, project_slug: new}}',
      {
        K: 'old',
        N: 'new',
      },
    );
    expect(both.settings.tracker.provider.project_slug).toBe('new');
    expect(keyOf(both)).toBe('new');
    expect(both.settings.tracker.secretEnvironment).toEqual(['LINEAR_API_KEY', 'N', 'K']);
  });

  // @conforms history-readme
  it('loads the legacy file of the first README unchanged', () => {
    const workflow = given(
      `tracker:
  kind: linear
  api_key: $LINEAR_API_KEY
  project_slug: "symphony-0c79b11b75ea"
  active_states: [Todo, In Progress, Merging, Rework]
polling:
  interval_ms: 5000
workspace:
  root: ~/code/workspaces
hooks:
  after_create: |
    git clone --depth 1 https://github.com/openai/symphony .
agent:
  max_concurrent_agents: 10
  max_turns: 20
codex:
  command: codex --model gpt-5.3-codex app-server
  approval_policy: never
  thread_sandbox: workspace-write
  turn_sandbox_policy:
    type: workspaceWrite`,
      { LINEAR_API_KEY: 'key' },
    );
    expect(workflow.warnings).toEqual([]);
    expect(workflow.settings.workspace.root).toBe('/home/me/code/workspaces');
    expect(workflow.settings.hooks.afterCreate).toContain('git clone');
  });
});

describe('board', () => {
  it('has its own default states, and rejects unknown states', () => {
    expect(given('tracker: {kind: board}').settings.tracker).toMatchObject({
      activeStates: ['todo', 'in_progress'],
      terminalStates: ['done', 'cancelled'],
      provider: { prefix: 'BAT' },
    });
    expect(given('tracker: {kind: board, active_states: [In_Progress, review]}').settings.tracker.activeStates).toEqual(
      ['In_Progress', 'review'],
    );
    const error = refusal(() => given('tracker: {kind: board, active_states: [in_progress, In Progress]}'));
    expect(error.code).toBe('invalid_tracker_config');
    expect(problemsIn(error)).toMatchObject([
      {
        key: 'tracker.active_states',
        details: { problem: 'unknown_state', state: 'In Progress', allowed: expect.arrayContaining(['in_progress']) },
      },
    ]);
  });

  it('has its own review state, and rejects others', () => {
    expect(given('tracker: {kind: board}\nagent: {max_in_review: 3}').settings).toMatchObject({
      tracker: { reviewStates: ['review'] },
      agent: { maxInReview: 3 },
    });
    const error = refusal(() => given('tracker: {kind: board, review_states: [review, In Review]}'));
    expect(error.code).toBe('invalid_tracker_config');
    expect(problemsIn(error)).toMatchObject([
      { key: 'tracker.review_states', details: { problem: 'unknown_state', state: 'In Review' } },
    ]);
  });

  it('rejects active states without the state that a start moves to', () => {
    expect(problemsIn(refusal(() => given('tracker: {kind: board, active_states: [todo]}')))).toMatchObject([
      { key: 'tracker.active_states', details: { problem: 'no_start_state', state: 'in_progress' } },
    ]);
  });
});

describe('tracker.review_states', () => {
  it('come from the file, else from the kind, else are empty', () => {
    const states = (tracker: string) => given(`tracker: ${tracker}`).settings.tracker.reviewStates;
    expect(states('{kind: memory}')).toEqual([]);
    expect(states('{kind: memory, review_states: [In Review, QA]}')).toEqual(['In Review', 'QA']);
    expect(states('{kind: board, review_states: []}')).toEqual([]);
    const linear = givenLinear('{api_key: $K, project_slug: p}', { K: 'k' });
    expect(linear.settings.tracker.reviewStates).toEqual(['In Review']);
  });

  it('are required when a limit counts them', () => {
    for (const tracker of ['{kind: memory}', '{kind: memory, review_states: []}', '{kind: board, review_states: []}']) {
      const error = refusal(() => given(`tracker: ${tracker}\nagent: {max_in_review: 2}`));
      expect(error).toMatchObject({ code: 'invalid_tracker_config' });
      expect(problemsIn(error)).toMatchObject([
        {
          key: 'tracker.review_states',
          details: { problem: 'nothing_counted', other: 'agent.max_in_review' },
        },
      ]);
    }
    const named = given('tracker: {kind: memory, review_states: [QA]}\nagent: {max_in_review: 2}');
    expect(named.settings).toMatchObject({ agent: { maxInReview: 2 }, tracker: { reviewStates: ['QA'] } });
  });

  it('must be neither active nor terminal, or a limit would block everything', () => {
    for (const state of ['todo', 'DONE', ' ']) {
      const error = refusal(() => given(`tracker: {kind: memory, review_states: ["${state}", QA]}`));
      expect(error).toMatchObject({ code: 'invalid_tracker_config' });
      expect(problemsIn(error)).toMatchObject([
        { key: 'tracker.review_states', details: { problem: 'state_taken', state } },
      ]);
    }
  });

  it('report an invalid value once', () => {
    const bad = 'tracker: {kind: memory, review_states: QA}\nagent: {max_in_review: 2}';
    expect(keysIn(refusal(() => given(bad)))).toEqual(['tracker.review_states']);
  });
});

describe('tracker.states', () => {
  const usual = 'active_states: [Todo, Doing], terminal_states: [Done]';

  it('are empty unless the file names them, and those of the kind where it has its own', () => {
    expect(given('tracker: {kind: memory}').settings.tracker.states).toEqual({
      todo: null,
      inProgress: null,
      review: null,
      blocked: null,
      done: null,
    });
    expect(given('tracker: {kind: board}').settings.tracker.states).toMatchObject({ review: 'review', todo: 'todo' });
    const named = given(
      `tracker: {kind: memory, ${usual}, states: {review: QA, in_progress: doing, blocked: Waiting}}`,
    );
    expect(named.settings.tracker).toMatchObject({
      reviewStates: ['QA'],
      states: { todo: null, inProgress: 'doing', review: 'QA', blocked: 'Waiting', done: null },
    });
  });

  it.each([
    ['todo', 'Done', 'tracker.states.todo'],
    ['in_progress', 'Elsewhere', 'tracker.states.in_progress'],
    ['blocked', 'todo', 'tracker.states.blocked'],
    ['blocked', 'DONE', 'tracker.states.blocked'],
    ['done', 'Todo', 'tracker.states.done'],
    ['review', 'Doing', 'tracker.review_states'],
  ])('reject %s: %s, which means something else to Baton', (role, state, key) => {
    const error = refusal(() => given(`tracker: {kind: memory, ${usual}, states: {${role}: ${state}}}`));
    expect(error.code).toBe('invalid_tracker_config');
    expect(problemsIn(error)).toMatchObject([{ key, details: { problem: 'state_taken', state } }]);
  });

  it('cannot be renamed on the board', () => {
    expect(given('tracker: {kind: board, states: {review: Review}}').settings.tracker.states.review).toBe('review');
    expect(problemsIn(refusal(() => given('tracker: {kind: board, states: {review: blocked}}')))).toMatchObject([
      { key: 'tracker.states.review', details: { problem: 'unknown_state', allowed: ['review'] } },
    ]);
  });

  it('give the state of a role, or the key that is missing', () => {
    const { tracker } = given(`tracker: {kind: memory, ${usual}, states: {todo: Todo}}`).settings;
    expect(stateFor('todo', tracker)).toEqual({ state: 'Todo' });
    expect(stateFor('inProgress', tracker)).toEqual({
      state: null,
      why: telling('tracker.states.in_progress', 'memory'),
    });
  });
});

describe('scanner.enabled', () => {
  it('is off, and a warning where no scan could begin by itself', () => {
    expect(given('tracker: {kind: board}').settings.scanner).toMatchObject({ enabled: false, runsPerDay: 1 });
    expect(given('tracker: {kind: board}\nscanner: {enabled: true}').warnings).toEqual([]);
    for (const file of [
      'tracker: {kind: board}\nscanner: {enabled: true, runs_per_day: 0}',
      'tracker: {kind: memory}\nscanner: {enabled: true}',
    ])
      expect(given(file).warnings).toMatchObject([{ key: 'scanner.enabled', details: { problem: 'no_effect' } }]);
  });
});

describe('board.auto_promote', () => {
  it('is off, and a warning where there is no backlog', () => {
    expect(given('tracker: {kind: board}').settings.board).toEqual({ autoPromote: false });
    expect(given('tracker: {kind: board}\nboard: {auto_promote: true}')).toMatchObject({
      settings: { board: { autoPromote: true } },
      warnings: [],
    });
    expect(given('tracker: {kind: memory}\nboard: {auto_promote: true}').warnings).toMatchObject([
      { key: 'board.auto_promote', details: { problem: 'no_effect' } },
    ]);
  });
});
