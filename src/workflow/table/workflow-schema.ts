import * as z from 'zod';
import type { ProviderKey, TrackerProfile } from '../../core/tracker-profile.ts';
import { type Adapters, sectionsOf, settingRows, splitKey } from './setting-table.ts';
import { typeOf } from './setting-types.ts';

type JsonSchema = Record<string, unknown>;

/**
 * JSON Schema of the front matter, for editors. It is as open as Baton itself: it allows unknown keys, and `baton
 * validate` warns about them. Draft 7, because YAML editors support it best.
 */
export function workflowSchema({ trackers, backends }: Adapters): JsonSchema {
  const rows = settingRows({ trackers, backends });
  const root = emptySection();
  const sections = new Map([['', root]]);
  const put = (key: string, schema: JsonSchema): void => {
    const { section, name } = splitKey(key);
    const above = sections.get(section);
    if (above !== undefined) above.properties[name] = schema;
  };
  for (const key of sectionsOf(rows.map((row) => row.key))) {
    const ofKinds = key === 'tracker' ? { required: ['kind'], allOf: trackers.map(providerSchema) } : {};
    const section = { ...emptySection(), ...ofKinds };
    put(key, section);
    sections.set(key, section);
  }
  for (const { key, type, default: byDefault, defaultText, description, offered } of rows) {
    const text = defaultText === undefined ? description : `${description} Default: ${defaultText}.`;
    put(key, {
      description: text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1'),
      ...(byDefault === null || defaultText !== undefined ? {} : { default: byDefault }),
      ...(offered === undefined ? jsonSchemaOf(typeOf(type).schema) : { enum: offered }),
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

/** The content of a section is added later; an empty section may be null. */
function emptySection(): { type: readonly string[]; properties: Record<string, JsonSchema> } {
  return { type: ['object', 'null'], properties: {} };
}

function providerSchema({ kind, keys }: TrackerProfile): JsonSchema {
  const named = (list: readonly ProviderKey[]): JsonSchema =>
    Object.fromEntries(list.map((key) => [key.name, providerKeySchema(key)]));
  return {
    if: { properties: { kind: { const: kind } }, required: ['kind'] },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a word of JSON Schema, and this is never awaited.
    then: { properties: { ...named(keys.filter((key) => key.flat)), provider: { properties: named(keys) } } },
  };
}

function providerKeySchema(key: ProviderKey): JsonSchema {
  const { schema } = typeOf(key.type === 'boolean' ? 'boolean' : 'text');
  const fallback = key.fallbackEnv === undefined ? '' : ` Without it: the environment variable ${key.fallbackEnv}.`;
  return {
    description: `${key.description}${fallback}`,
    ...(key.default === undefined ? {} : { default: key.default }),
    ...jsonSchemaOf(schema),
  };
}

/** Null means absent everywhere, so every key may be null. */
function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema.nullable(), { target: 'draft-07', io: 'input' });
  return rest;
}
