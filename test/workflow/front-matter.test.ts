import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { runs } from '../property-runs.ts';
import { given, givenMemory, givenText, path, refusal } from './given.ts';

const reading = (frontMatter: string) => refusal(() => given(frontMatter));
/** What is no good YAML in it, and where. */
const faultsOf = (frontMatter: string) => reading(frontMatter).details.faults;

describe('YAML', () => {
  // @conforms C25
  it('rejects a list', () => {
    const error = refusal(() => givenText('---\n- not-a-map\n---\nPrompt body\n'));
    expect(error).toMatchObject({ code: 'workflow_front_matter_not_a_map' });
    expect(error.message).toContain(path);
    expect(reading('just text').code).toBe('workflow_front_matter_not_a_map');
  });

  it('reads blank front matter as an empty map', () => {
    for (const blank of ['', '# only a comment', '\n\n', '{}', 'null']) {
      expect(reading(blank).code, JSON.stringify(blank)).toBe('missing_tracker_kind');
    }
  });

  it('names the file and the line of an error', () => {
    const error = reading('tracker:\n  kind: memory\n bad: [1');
    expect(error.code).toBe('workflow_parse_error');
    expect(error.message).toContain(path);
    expect(error.details.faults).toContainEqual({ line: 4, column: 1, problem: 'bad_indent' });
  });

  it('rejects a repeated key at any depth', () => {
    const error = reading('a: 1\nb: 2\na: 3');
    expect(error).toMatchObject({
      code: 'workflow_parse_error',
      details: { faults: [{ line: 4, column: 1, problem: 'repeated_key' }] },
    });
    expect(error.message).toContain('"a"');
    expect(faultsOf('polling:\n  interval_ms: 1\n  interval_ms: 2')).toMatchObject([
      { line: 4, problem: 'repeated_key' },
    ]);
  });

  it('reads numeric and boolean keys as text', () => {
    const policy = 'codex: {turn_sandbox_policy: {1: a, true: b, 0x10: c}}';
    expect(givenMemory(policy).settings.backends.codex?.turnSandboxPolicy).toEqual({ 1: 'a', true: 'b', '0x10': 'c' });
    for (const bad of ['? [x]\n: y', '? {x: 1}\n: y', '~: y'])
      expect(faultsOf(bad), bad).toMatchObject([{ problem: 'key_not_text' }]);
  });

  it('rejects tags that are not plain data, and several documents', () => {
    for (const odd of [
      'a: !!js/function x',
      'a: !mine {b: 1}',
      'a: !!binary aGk=',
      'a: !!set {a, b}',
      'a: 1\n--- # b\nb: 2',
    ]) {
      expect(reading(odd).code, odd).toBe('workflow_parse_error');
    }
  });

  // @conforms workflow.6
  it('follows anchors, and rejects unknown, endless and exploding ones', () => {
    const shared = 'agent: {max_turns: &few 3, max_concurrent_agents: *few}';
    expect(givenMemory(shared).settings.agent).toMatchObject({ maxTurns: 3, maxConcurrentAgents: 3 });
    expect(reading('a: *nowhere').message).toContain('*nowhere');
    expect(faultsOf('a: &a\n  b: *a')).toMatchObject([{ problem: 'endless_alias' }]);
    const letters = 'abcdefghi'.split('');
    const bomb = letters.map((name, index) => {
      const below = index === 0 ? 'x' : `*${letters[index - 1]}`;
      return `${name}: &${name} [${Array(9).fill(below).join(',')}]`;
    });
    expect(faultsOf(bomb.join('\n'))).toMatchObject([{ problem: 'too_many_aliases' }]);
  });

  it('rejects deep nesting and too many values quickly', () => {
    expect(faultsOf(`a: ${'['.repeat(200)}${']'.repeat(200)}`)).toMatchObject([{ problem: 'nested_too_deep' }]);
    expect(reading('['.repeat(60_000)).code).toBe('workflow_parse_error');
    expect(faultsOf(`a: [${'1,'.repeat(21_000)}]`)).toMatchObject([{ problem: 'too_many_values' }]);
    // Each key compared with each other would take seconds here.
    expect(reading(Array.from({ length: 7000 }, (_, index) => `k${index}: v`).join('\n')).code).toBe(
      'missing_tracker_kind',
    );
    expect(reading(`a: ${'x'.repeat(65 * 1024)}`).code).toBe('workflow_too_large');
  });

  it('treats the key __proto__ as an ordinary unknown key', () => {
    const workflow = given('__proto__: {polluted: true}\nconstructor: 1\ntracker: {kind: memory, __proto__: {x: 1}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(workflow.warnings.map((warning) => warning.key)).toEqual(
      expect.arrayContaining(['__proto__', 'constructor', 'tracker.__proto__']),
    );
    expect(refusal(() => given('__proto__: {tracker: {kind: memory}}')).code).toBe('missing_tracker_kind');
  });

  // @conforms C26
  it('treats null like an absent value, at every level', () => {
    const { settings } = givenMemory(
      'workspace: {root: null}\nagent: ~\nhooks:\npolling: {interval_ms: ~}\ncodex: {turn_sandbox_policy: {type: x, gone: null, deep: {gone: ~, kept: 1}}}',
    );
    expect(settings.workspace.root).toBe('/state/workspaces');
    expect(settings.agent.maxTurns).toBe(20);
    expect(settings.polling.intervalMs).toBe(30_000);
    expect(settings.backends.codex?.turnSandboxPolicy).toEqual({ type: 'x', deep: { kept: 1 } });
  });

  // @conforms workflow.9
  it('throws only a BatonError for arbitrary bytes and arbitrary YAML', () => {
    const onlyBatonErrors = (text: string | Uint8Array): void => {
      try {
        givenText(text);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(BatonError);
        expect((thrown as BatonError).code).not.toBe('internal_error');
      }
    };
    const yamlish = fc.array(
      fc.constantFrom(
        'tracker',
        ':',
        ' ',
        '\n',
        '- ',
        '&a ',
        '*a',
        '{',
        '}',
        '[',
        ']',
        '"',
        "'",
        '|',
        '>',
        '? ',
        '!x ',
        '1',
        'kind',
        'memory',
        ',',
        '#',
        '%',
        '\t',
        '<<',
        '---',
        '{{',
        '{%',
        '$A',
        '~',
      ),
      { maxLength: 60 },
    );
    const bytes = fc.uint8Array({ maxLength: 200 });
    fc.assert(fc.property(bytes, onlyBatonErrors), { numRuns: runs(500) });
    fc.assert(
      fc.property(yamlish, (parts) => onlyBatonErrors(`---\n${parts.join('')}`)),
      { numRuns: runs(1000) },
    );
    const settings = fc.dictionary(
      fc.constantFrom('tracker', 'polling', 'agent', 'hooks', 'codex', 'worker', 'server', 'workspace', 'x'),
      fc.oneof(
        fc.jsonValue(),
        fc.dictionary(
          fc.constantFrom(
            'kind',
            'provider',
            'interval_ms',
            'root',
            'max_turns',
            'env',
            'max_concurrent_agents_by_state',
            'api_key',
            'ssh_hosts',
            'port',
            'active_states',
          ),
          fc.jsonValue(),
        ),
      ),
    );
    fc.assert(
      fc.property(settings, (data) => onlyBatonErrors(`---\n${JSON.stringify(data)}\n---\n`)),
      { numRuns: runs(500) },
    );
  });
});
