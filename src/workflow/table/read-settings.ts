import type * as z from 'zod';
import { type FrontMatter, isMap } from '../parse-front-matter.ts';
import { errorAt, type Report, shown, warningAt } from '../workflow-problems.ts';
import { type PlainSettings, type SettingRow, sectionsOf, splitKey } from './setting-table.ts';
import { typeOf } from './setting-types.ts';

/** The values of the table. An invalid value counts as given and is replaced by its default. */
export interface ReadSettings {
  readonly plain: PlainSettings;
  /** The dotted keys that the file gives. */
  readonly given: ReadonlySet<string>;
  /** The origins of values that are neither plain values of the file nor defaults. */
  readonly origins: ReadonlyMap<string, string>;
}

/** Reads every key of the table from the front matter and reports each value of the wrong type. */
export function readSettings(frontMatter: FrontMatter, rows: readonly SettingRow[], report: Report): ReadSettings {
  const mayHoldSecret = secretKeys(rows);
  const found: Found = (key, raw) => {
    if (raw === undefined) return 'nothing';
    return mayHoldSecret.has(key) && typeof raw !== 'object' ? `a ${typeof raw}, not shown` : shown(raw);
  };
  reportSectionsNotMaps(frontMatter, rows, found, report);
  const values = new Map<string, unknown>();
  const given = new Set<string>();
  for (const row of rows) {
    values.set(row.key, row.default);
    const raw = rawValue(frontMatter, row.key);
    if (raw === undefined) continue;
    given.add(row.key);
    const value = readValue(row, raw, found, report);
    if (value === undefined) continue;
    values.set(row.key, value);
    if (row.unsupported !== undefined && !isEmptyList(value)) {
      const { severity, because } = row.unsupported;
      const problem = severity === 'error' ? errorAt : warningAt;
      report(problem(row.key, `${row.key} has no effect: ${because}`, { code: 'unsupported_setting' }));
    }
  }
  const origins = follow(rows, values, given);
  return { plain: nest(rows, values), given, origins };
}

/** Sets keys that the file leaves out from their other spellings and from keys of backends; returns the origins. */
function follow(
  rows: readonly SettingRow[],
  values: Map<string, unknown>,
  given: ReadonlySet<string>,
): Map<string, string> {
  const origins = new Map([...given].map((key) => [key, 'file']));
  for (const { key, aliasOf } of rows) {
    const value = values.get(key);
    if (aliasOf === undefined || value === null || given.has(aliasOf)) continue;
    values.set(aliasOf, value);
    origins.set(aliasOf, `file (other spelling ${key})`);
  }
  for (const { key, value, when, is } of rows.flatMap(({ implied = [] }) => implied)) {
    if (given.has(key) || values.get(when) !== is) continue;
    values.set(key, value);
    origins.set(key, `default, as ${when} is ${is}`);
  }
  return origins;
}

/** Places the values at the paths of their rows. */
function nest(rows: readonly SettingRow[], values: ReadonlyMap<string, unknown>): PlainSettings {
  const plain: Record<string, unknown> = { backends: {} };
  for (const { key, path, aliasOf, unsupported } of rows) {
    if (aliasOf !== undefined || unsupported !== undefined) continue;
    let section = plain;
    for (const name of path.slice(0, -1)) {
      section[name] ??= {};
      section = section[name] as Record<string, unknown>; // Only the end of a path is a value.
    }
    section[path.at(-1) ?? ''] = values.get(key);
  }
  // The tables that define the rows give it its type.
  return plain as unknown as PlainSettings;
}

/** Keys under which a user may have misplaced a secret: those of secrets, and the sections above them. */
function secretKeys(rows: readonly SettingRow[]): ReadonlySet<string> {
  const keys = rows.filter(({ mayHoldSecret }) => mayHoldSecret === true).map(({ key }) => key);
  return new Set([...keys, ...sectionsOf(keys)]);
}

/** A section of the front matter, by its dotted name; empty when it is absent or not a map. */
export function sectionOf(frontMatter: FrontMatter, section: string): FrontMatter {
  return section.split('.').reduce((above, name) => {
    const value = Object.hasOwn(above, name) ? above[name] : undefined;
    return isMap(value) ? value : {};
  }, frontMatter);
}

/** Formats a value of the file for a message about a key, without possible secrets. */
type Found = (key: string, raw: unknown) => string;

function reportSectionsNotMaps(
  frontMatter: FrontMatter,
  rows: readonly SettingRow[],
  found: Found,
  report: Report,
): void {
  for (const section of sectionsOf(rows.map(({ key }) => key))) {
    const value = rawValue(frontMatter, section);
    if (value === undefined || isMap(value)) continue;
    const message = `${section} must be a map of settings, found ${found(section, value)}`;
    report(errorAt(section, message, { problem: 'wrong_value', expected: 'map' }));
  }
}

function rawValue(frontMatter: FrontMatter, key: string): unknown {
  const { section, name } = splitKey(key);
  const values = section === '' ? frontMatter : sectionOf(frontMatter, section);
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function readValue({ key, code, ...row }: SettingRow, raw: unknown, found: Found, report: Report): unknown {
  const type = typeOf(row.type);
  const result = type.schema.safeParse(raw);
  if (result.success) return result.data;
  const bad = new Map(result.error.issues.flatMap(badPlaces).map((place) => [JSON.stringify(place), place]));
  const facts = { expected: type.name, ...(type.choices === undefined ? {} : { allowed: type.choices }) };
  for (const place of bad.values()) {
    if (place.length === 0) {
      const message = `${key} must be ${type.allowed}, found ${found(key, raw)}`;
      report(errorAt(key, message, { ...(code === undefined ? {} : { code }), problem: 'wrong_value', ...facts }));
      continue;
    }
    const at = place.reduce<Place>(stepInto, { name: key, value: raw });
    const allowed = type.allowedEntry ?? type.allowed;
    if (String(place.at(-1)).trim() === '')
      report(
        errorAt(at.map ?? key, `${at.map} has a blank key; it must be ${allowed}`, { problem: 'blank_key', ...facts }),
      );
    else {
      const message = `${at.name} must be ${allowed}, found ${found(key, at.value)}`;
      report(errorAt(at.name, message, { problem: 'wrong_entry', ...facts }));
    }
  }
  return undefined;
}

interface Place {
  readonly name: string;
  readonly value: unknown;
  /** The name of the list or map that it is in. */
  readonly map?: string;
}

/** One step into a list or a map: the value there, and its name for people. */
function stepInto({ name, value }: Place, step: PropertyKey): Place {
  const inside = typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>) : {};
  const entry = Object.hasOwn(inside, step) ? inside[step] : undefined;
  const entryName = Array.isArray(value) ? `${name}[${String(step)}]` : `${name}.${String(step)}`;
  return { name: entryName, value: entry, map: name };
}

/** The places inside a list or a map that an issue is about; a place without steps is the whole value. */
function badPlaces(issue: z.core.$ZodIssue): (readonly PropertyKey[])[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => [...issue.path, name]);
  if (issue.path.length > 0) return [issue.path];
  // If a value may have several forms, the intended form is the one whose issues concern only entries.
  const forms = issue.code === 'invalid_union' ? issue.errors : [];
  const meant = forms.find((issues) => issues.every(({ path }) => path.length > 0));
  return meant === undefined ? [[]] : meant.flatMap(badPlaces);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
