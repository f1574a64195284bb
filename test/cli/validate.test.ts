import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { telling } from '../telling.ts';
import { batonHere } from './baton-here.ts';
import { baton, leaveNoPlaces, Place } from './run-baton.ts';

const secrets = { OTHER_KEY: 'canary-env', LINEAR_API_KEY: 'canary-linear' };
const place = new Place(secrets);
leaveNoPlaces();

const good = '---\ntracker: {kind: memory}\nagent: {backend: rehearsal, max_turns: 7}\n---\nDo {{ issue.title }}.\n';

describe.concurrent('baton validate', () => {
  it('prints the settings of a valid file and where each comes from', async () => {
    const file = place.write('good/WORKFLOW.md', good);
    const { code, stdout, stderr } = await baton(place, 'validate', 'good/WORKFLOW.md');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^agent\.max_turns +7 +file$/m);
    expect(stdout).toMatch(/^polling\.interval_ms +30000 +default$/m);
    expect(stdout).toContain(file);
  });

  it('reads ./WORKFLOW.md by default, and prints JSON', async () => {
    place.write('WORKFLOW.md', good);
    const { code, stdout, stderr } = await baton(place, 'validate', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({
      path: path.join(place.folder, 'WORKFLOW.md'),
      valid: true,
      errors: [],
      warnings: [],
    });
    expect(report.settings).toContainEqual({ key: 'agent.max_turns', value: 7, origin: 'file' });
  });

  // @conforms budget.2
  it('says what a planner and a scanner cost that are on, with the limits of a day', async () => {
    place.write('costs/W.md', good.replace('memory}', 'board}\nplanner: {enabled: true}\nscanner: {enabled: true}'));
    const report = JSON.parse((await batonHere(place, 'validate', 'costs/W.md', '--json')).stdout);
    expect(report.costs).toEqual([
      { role: 'planner', runs_per_day: 20, usd_per_day: 0, text: telling(20, 'planner.runs_per_day') },
      { role: 'scanner', runs_per_day: 1, usd_per_day: 0, text: telling(1, 'scanner.runs_per_day') },
    ]);
    const { stdout } = await batonHere(place, 'validate', 'costs/W.md');
    for (const { text } of report.costs) expect(stdout).toContain(text);
  });

  // @conforms tools.15
  it('shows which environment variables an agent gets, by name, and which are withheld', async () => {
    using own = new Place({
      LINEAR_API_KEY: 'canary-linear',
      LC_KEY: 'canary-other',
      EXTRA: 'canary-extra',
      CODEX_LOG: 'canary-log',
      OPENAI_API_KEY: 'canary-openai',
      SPARE_KEY: 'canary-spare',
      UNRELATED: 'canary-unrelated',
    });
    const front = `tracker: {kind: linear, provider: {api_key: $LC_KEY, project_slug: x}}
agent:
  backend: codex
  env: [EXTRA]
  accounts: [{name: work, home: ~/work}, {name: spare, env: {OPENAI_API_KEY: $SPARE_KEY}}, {name: c, backend: command}]`;
    own.write('W.md', `---\n${front}\n---\n`);
    const [json, text] = await Promise.all([
      batonHere(own, 'validate', 'W.md', '--json'),
      batonHere(own, 'validate', 'W.md'),
    ]);
    expect(JSON.stringify([json, text])).not.toContain('canary');
    const found = JSON.parse(json.stdout).agent_environment;
    expect(found.usual).toEqual(expect.arrayContaining(['PATH', 'HOME', 'LC_*']));
    expect(found.backend).toEqual(expect.arrayContaining(['CODEX_*', 'OPENAI_*']));
    expect(found).toMatchObject({
      workflow: ['EXTRA'],
      accounts: { work: ['CODEX_HOME'], spare: ['OPENAI_API_KEY'] },
      baton: ['BATON_*'],
      removed: ['LC_KEY'],
      set: ['CODEX_LOG', 'EXTRA', 'HOME', 'OPENAI_API_KEY', 'PATH', 'TMPDIR', 'XDG_STATE_HOME'],
    });
    expect(Object.keys(found.accounts)).toEqual(['work', 'spare']);
    expect(text.stdout).toMatch(/^ {2}agent\.env +EXTRA$/m);
    expect(text.stdout).toMatch(/^ {2}.*\bwork +CODEX_HOME$/m);
    expect(text.stdout).toMatch(/^ {2}\S.* +LC_KEY$/m);
    expect(text.stdout).toMatch(/^ {2}\S.* +CODEX_LOG EXTRA /m);
    expect(text.stdout).not.toContain('UNRELATED');
  });

  it('reports all errors at once', async () => {
    place.write('bad.md', '---\ntracker: {kind: memory}\nagent: {max_turns: 0}\npolling: {interval_ms: x}\n---\n');
    const plain = await batonHere(place, 'validate', 'bad.md');
    expect({ code: plain.code, stdout: plain.stdout }).toEqual({ code: 1, stdout: '' });
    expect(plain.stderr).toContain('agent.max_turns');
    expect(plain.stderr).toContain('polling.interval_ms');
    expect(plain.stderr.match(/^error: .*\[invalid_workflow_config\]$/gm)).toHaveLength(2);
    expect(plain.stderr).toContain(path.join(place.folder, 'bad.md'));
    const json = await batonHere(place, 'validate', 'bad.md', '--json');
    expect(json).toMatchObject({ code: 1, stderr: '' });
    const report = JSON.parse(json.stdout);
    expect(report).toMatchObject({ valid: false, settings: null, agent_environment: null });
    const wrong = { details: { problem: 'wrong_value', expected: 'positive_integer' } };
    expect(report.errors).toMatchObject([
      { key: 'polling.interval_ms', ...wrong },
      { key: 'agent.max_turns', ...wrong },
    ]);
  });

  it('warns without failing', async () => {
    place.write('warned.md', '---\ntracker: {kind: memory}\nagent: {backend: rehearsal, max_turn: 3}\n---\n');
    const { code, stderr } = await batonHere(place, 'validate', 'warned.md');
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: .*max_turn.*max_turns/m);
  });

  it('accepts Codex with no other setting', async () => {
    using own = new Place({ LINEAR_API_KEY: 'canary' });
    own.write('codex.md', '---\ntracker: {kind: linear, provider: {project_slug: x}}\n---\n');
    const { code, stdout } = await batonHere(own, 'validate', 'codex.md', '--json');
    expect({ code, errors: JSON.parse(stdout).errors }).toEqual({ code: 0, errors: [] });
  });

  it.each([
    ['a variable', 'tracker: {kind: linear, provider: {api_key: $OTHER_KEY, project_slug: x}}'],
    ['the usual variable', 'tracker: {kind: linear, provider: {project_slug: x}}'],
    ['the file', 'tracker: {kind: linear, provider: {api_key: canary-file, project_slug: x}}'],
    ['the file, in the older spelling', 'tracker: {kind: linear, api_key: canary-file, project_slug: x}'],
    ['the file, misspelt', 'tracker: {kind: linear, provider: {apikey: canary-file, project_slug: x}}'],
    ['the file, as an account', 'tracker: {kind: memory}\nagent: {accounts: [canary-file]}'],
    ['the file, as a key of an account', 'tracker: {kind: memory}\nagent: {accounts: [{name: a, key: canary-file}]}'],
    ['the file, as a list', 'tracker: {kind: linear, provider: {api_key: [canary-file], project_slug: x}}'],
    ['a line that is no YAML', 'tracker:\n  kind: linear\n  api_key: "canary-file\n  project_slug: x'],
    ['a line with a stray colon', 'tracker:\n  kind: linear\n  api_key: canary-file: x'],
  ])('never prints a secret that comes from %s', async (_where, front) => {
    using own = new Place(secrets);
    const file = own.write('secret.md', `---\n${front}\n---\nDo it.\n`);
    // A start has to be refused: none of these may be worked on.
    const bad = own.write('bad-secret.md', `---\n${front}\npolling: {interval_ms: 0}\n---\nDo it.\n`);
    const answers = await Promise.all([
      batonHere(own, 'validate', file),
      batonHere(own, 'validate', file, '--json'),
      baton(own, 'start', bad),
    ]);
    expect(answers[2].code).toBe(1);
    expect(answers[0].code).toBe(answers[1].code);
    expect(JSON.stringify(answers)).not.toContain('canary');
  });

  const aliases = Array.from(
    { length: 12 },
    (_, at) => `l${at}: &l${at} [${`*l${at - 1},`.repeat(at === 0 ? 0 : 10)}x]`,
  );
  it.each([
    ['a missing file', null, 'missing_workflow_file'],
    ['a directory', 'directory', 'missing_workflow_file'],
    ['an empty file', '', 'missing_tracker_kind'],
    ['a binary file', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff]), 'workflow_parse_error'],
    ['10 MB', `${good}${'x'.repeat(10_000_000)}`, 'workflow_too_large'],
    ['a YAML bomb', `---\n${aliases.join('\n')}\n---\n`, 'workflow_parse_error'],
    ['a list for front matter', '---\n- a\n---\n', 'workflow_front_matter_not_a_map'],
    [
      'a template without end',
      '---\ntracker: {kind: memory}\nagent: {backend: rehearsal}\n---\n{% for i in (1..1000000000) %}x{% endfor %}',
      'template_render_error',
    ],
    ['a template that is none', good.replace('{{', '{% if %}{{'), 'template_parse_error'],
  ])('names %s and exits with 1', async (_what, content, expected) => {
    using own = new Place();
    if (content === 'directory') mkdirSync(path.join(own.folder, 'W.md'));
    else if (content !== null) own.write('W.md', content);
    const { code, stdout, stderr } = await batonHere(own, 'validate', 'W.md', '--json');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const { errors } = JSON.parse(stdout);
    expect(errors.map((error: { code: string }) => error.code)).toContain(expected);
    // All settings are part of the answer; the bad file is not.
    expect(stdout.length).toBeLessThan(50_000);
  });
});

describe.concurrent('baton schema', () => {
  it('prints a JSON Schema that accepts valid front matter and rejects invalid', async () => {
    const { code, stdout, stderr } = await baton(place, 'schema');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // Zod does not know conditional schemas; test/workflow looks at those.
    const schema = z.fromJSONSchema(JSON.parse(stdout, (key, value) => (key === 'allOf' ? undefined : value)));
    const front = { tracker: { kind: 'memory' }, agent: { backend: 'rehearsal', max_turns: 7 } };
    expect(schema.safeParse(front).success).toBe(true);
    expect(schema.safeParse({ ...front, tracker: { kind: 'no-such' } }).success).toBe(false);
    expect(schema.safeParse({ agent: {} }).success).toBe(false);
    expect((await batonHere(place, 'schema', '--json')).stdout).toBe(stdout);
  });
});
