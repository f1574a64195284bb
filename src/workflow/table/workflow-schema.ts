import { z } from 'zod';
import type { BackendProfile } from '../../core/backend-profile.ts';
import type { ProviderKey, TrackerProfile } from '../../core/tracker-profile.ts';
import { type SettingKey, sectionsOf, settingRows, splitKey } from './setting-table.ts';
import { flag, text } from './setting-types.ts';

type JsonSchema = Record<string, unknown>;

/**
 * JSON Schema of the front matter, for editors. It is as open as Baton itself: unknown keys are allowed here, and
 * `baton validate` warns of them. Draft 7, as that is what editors of YAML understand best.
 */
export function workflowSchema(trackers: readonly TrackerProfile[], backends: readonly BackendProfile[]): JsonSchema {
  const choices: Partial<Record<SettingKey, readonly string[]>> = {
    'tracker.kind': trackers.map((tracker) => tracker.kind),
    'agent.backend': backends.map((backend) => backend.name),
  };
  const root = emptySection();
  const sections = new Map([['', root]]);
  const put = (key: string, schema: JsonSchema): void => {
    const { section, name } = splitKey(key);
    const above = sections.get(section);
    if (above !== undefined) above.properties[name] = schema;
  };
  for (const key of sectionsOf(settingRows.map(([row]) => row))) {
    const ofKinds = key === 'tracker' ? { required: ['kind'], allOf: trackers.map(providerSchema) } : {};
    const section = { ...emptySection(), ...ofKinds };
    put(key, section);
    sections.set(key, section);
  }
  for (const [key, row] of settingRows) {
    const choice = choices[key];
    put(key, {
      description: row.defaultText === undefined ? row.description : `${row.description} Default: ${row.defaultText}.`,
      ...(row.default === null ? {} : { default: row.default }),
      ...(choice === undefined ? jsonSchemaOf(row.schema) : { enum: choice }),
    });
  }
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Front matter of a Baton workflow file',
    type: 'object',
    required: ['tracker'],
    properties: root.properties,
  };
}

/** What is in a section comes later; a section that is empty may be null. */
function emptySection(): { type: readonly string[]; properties: Record<string, JsonSchema> } {
  return { type: ['object', 'null'], properties: {} };
}

function providerSchema({ kind, keys }: TrackerProfile): JsonSchema {
  const named = (list: readonly ProviderKey[]): JsonSchema =>
    Object.fromEntries(list.map((key) => [key.name, providerKeySchema(key)]));
  return {
    if: { properties: { kind: { const: kind } }, required: ['kind'] },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a word of JSON Schema, and nobody awaits this.
    then: { properties: { ...named(keys.filter((key) => key.flat)), provider: { properties: named(keys) } } },
  };
}

function providerKeySchema(key: ProviderKey): JsonSchema {
  const type = key.type === 'boolean' ? flag.schema : text.schema;
  const fallback = key.fallbackEnv === undefined ? '' : ` Without it: the environment variable ${key.fallbackEnv}.`;
  return {
    description: `${key.description}${fallback}`,
    ...(key.default === undefined ? {} : { default: key.default }),
    ...jsonSchemaOf(type),
  };
}

/** Null means absent everywhere, so every key may be null. */
function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema.nullable(), { target: 'draft-07', io: 'input' });
  return rest;
}
