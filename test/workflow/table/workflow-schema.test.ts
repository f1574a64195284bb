import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agentBackends } from '../../../src/agent/backends.ts';
import type { TrackerProfile } from '../../../src/core/tracker-profile.ts';
import { workflowSchema } from '../../../src/workflow/table/workflow-schema.ts';
import { givenContext, givenMemory, givenText } from '../given.ts';

interface Schema {
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly { readonly then: Schema }[];
}

const { trackers } = givenContext();
// The schema's own type is open JSON; the tests say what they expect of it.
const schema = workflowSchema({ trackers, backends: agentBackends }) as Schema;
const section = (name: string): Readonly<Record<string, Schema>> => schema.properties?.[name]?.properties ?? {};
/** Every key with its schema, those in sections of sections too. */
const keysIn = ({ properties = {} }: Schema, above = ''): [string, Schema][] =>
  Object.entries(properties).flatMap(([name, inner]): [string, Schema][] =>
    inner.properties === undefined ? [[`${above}${name}`, inner]] : keysIn(inner, `${above}${name}.`),
  );

describe('the JSON Schema of the front matter', () => {
  it('describes every key', () => {
    for (const [key, { description }] of keysIn(schema)) expect(description, key).toBeTruthy();
    expect(section('polling').interval_ms).toMatchObject({ default: 30_000 });
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  });

  it('lists the available tracker kinds and backends', () => {
    expect(section('tracker').kind?.enum).toEqual(['memory', 'linear', 'board']);
    expect(section('agent').backend?.enum).toEqual(agentBackends.map(({ name }) => name));
  });

  it('has the provider keys of each kind, in both spellings', () => {
    const linear = schema.properties?.tracker?.allOf?.[1]?.then.properties ?? {};
    const names = trackers[1]?.keys.map(({ name }) => name) ?? [];
    expect(names).toEqual(expect.arrayContaining(['endpoint', 'api_key', 'project_slug', 'assignee']));
    expect(Object.keys(linear)).toEqual([...names, 'provider']);
    expect(Object.keys(linear.provider?.properties ?? {})).toEqual(names);
    expect(linear.provider?.properties?.endpoint?.default).toBe('https://api.linear.app/graphql');
  });

  it('has nested sections', () => {
    expect(section('polling').budget?.properties).toHaveProperty('requests_per_day');
    expect(section('polling').jobs?.properties?.stall_check?.properties?.interval_ms).toMatchObject({ default: 5000 });
    expect(section('polling').jobs?.properties).not.toHaveProperty('tracker_poll');
    expect(Object.keys(schema.properties ?? {})).not.toContain('polling.budget');
  });

  it('describes accounts, prices and choices', () => {
    const inner = (name: string): string => JSON.stringify(section('agent')[name]);
    expect(inner('accounts')).toMatch(/"items":.*"name".*"backend".*"env".*"home".*"additionalProperties":false/);
    expect(inner('accounts')).not.toContain('"default"');
    expect(inner('prices')).toMatch(/"input".*"cached_input".*"output"/);
    expect(inner('approvals')).toMatch(/"enum":\["auto","deny","ask"\]/);
    expect(section('agent').context_recovery?.properties?.compact).toMatchObject({ default: true });
    expect(section('codex').tools).toMatchObject({ default: 'dynamic' });
  });

  it('describes quiet hours', () => {
    const [form] = section('polling').quiet_hours?.anyOf ?? [];
    const pattern = new RegExp(form?.pattern ?? '');
    expect(['22:00-06:00', '22:00-24:00', '24:00-06:00', '9:00-10:00'].map((text) => pattern.test(text))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('allows what Baton allows: numbers as text, and null', () => {
    expect(JSON.stringify(section('polling').interval_ms)).toMatch(/"integer".*"string".*"null"/);
  });
});

describe('docs/configuration.md', () => {
  const doc = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  const rows = new Map(
    [...doc.matchAll(/^\| `([a-z_.]+)` \| ([^|]*) \| ((?:\\\||[^|])*) \|/gm)].map(([, key, , byDefault]) => [
      key,
      byDefault?.trim(),
    ]),
  );
  const madeFromOutside = [
    'tracker.kind',
    'project.name',
    'polling.time_zone',
    'notify.time_zone',
    'workspace.strategy',
    'workspace.branch',
  ];
  const providerKeys = (profile: TrackerProfile) => profile.keys.map((key) => `tracker.provider.${key.name}`);

  it('has exactly one row for each key of the schema', () => {
    const keys = keysIn(schema).map(([key]) => key);
    expect([...rows.keys()].sort()).toEqual([...keys, ...trackers.flatMap(providerKeys)].sort());
  });

  it('has the default of every key', () => {
    for (const { key, value } of givenMemory('').described) {
      const isConstant = typeof value === 'number' || (typeof value === 'string' && !value.startsWith('/'));
      if (isConstant && !madeFromOutside.includes(key))
        expect(rows.get(key)?.startsWith(`\`${value}\``), key).toBe(true);
    }
  });

  it('has the branch template, which no table row can hold', () => {
    const branch = givenMemory('').described.find(({ key }) => key === 'workspace.branch');
    expect(doc).toContain(`\`\`\`liquid\n${branch?.value}\n\`\`\``);
  });

  it('shows examples that load', () => {
    const examples = [...doc.matchAll(/```markdown\n([\s\S]*?)```/g)].map(([, text]) => text ?? '');
    expect(examples.length).toBeGreaterThanOrEqual(2);
    for (const text of examples) expect(givenText(text, { LINEAR_API_KEY: 'k' }).warnings).toEqual([]);
  });
});
