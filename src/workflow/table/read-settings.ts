import type { z } from 'zod';
import type { ErrorCode } from '../../core/error-catalogue.ts';
import { type FrontMatter, isMap } from '../parse-front-matter.ts';
import { errorAt, type Report, shown, warningAt } from '../workflow-problems.ts';
import { type SettingKey, type SettingValues, sectionsOf, settingRows, splitKey } from './setting-table.ts';
import type { SettingType } from './setting-types.ts';

/** The values of the table, and which of them the file gives. A bad value counts as given and has its default. */
export interface ReadSettings {
  readonly values: SettingValues;
  readonly given: ReadonlySet<SettingKey>;
}

/** Reads every key of the table out of the front matter and reports whatever is not of its type. */
export function readSettings(frontMatter: FrontMatter, report: Report): ReadSettings {
  reportSectionsThatAreNoMaps(frontMatter, report);
  const values: Partial<Record<SettingKey, unknown>> = {};
  const given = new Set<SettingKey>();
  for (const [key, row] of settingRows) {
    values[key] = row.default;
    const raw = rawValue(frontMatter, key);
    if (raw === undefined) continue;
    given.add(key);
    const value = readValue(key, row, raw, report);
    if (value === undefined) continue;
    values[key] = value;
    if (row.unsupported !== undefined && !isEmptyList(value)) {
      const { severity, because } = row.unsupported;
      const problem = severity === 'error' ? errorAt : warningAt;
      report(problem(key, `${key} has no effect: ${because}`, { code: 'unsupported_setting' }));
    }
  }
  // Every key of the table was set above, to its default or to what its own schema made of the file.
  return { values: values as SettingValues, given };
}

/** A section of the front matter, by its dotted name; empty when it is absent or no map. */
export function sectionOf(frontMatter: FrontMatter, section: string): FrontMatter {
  return section.split('.').reduce((above, name) => {
    const value = Object.hasOwn(above, name) ? above[name] : undefined;
    return isMap(value) ? value : {};
  }, frontMatter);
}

function reportSectionsThatAreNoMaps(frontMatter: FrontMatter, report: Report): void {
  for (const section of sectionsOf(settingRows.map(([key]) => key))) {
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

function readValue(key: SettingKey, type: SettingType<unknown>, raw: unknown, report: Report): unknown {
  const result = type.schema.safeParse(raw);
  if (result.success) return result.data;
  const bad = new Map(result.error.issues.flatMap(badPlaces).map((place) => [place.map(String).join('.'), place]));
  for (const [steps, place] of bad) {
    const at = place.reduce<Found>(stepInto, { name: key, value: raw });
    const facts = { expected: type.name, ...(type.choices === undefined ? {} : { allowed: type.choices }) };
    if (steps === '') {
      const message = `${key} must be ${type.allowed}, found ${found(key, raw)}`;
      report(errorAt(key, message, { code: codeFor(key), problem: 'wrong_value', ...facts }));
    } else {
      const message = `${at.name} must be ${type.allowedEntry ?? type.allowed}, found ${found(key, at.value)}`;
      report(errorAt(at.name, message, { problem: 'wrong_entry', ...facts }));
    }
  }
  return undefined;
}

interface Found {
  readonly name: string;
  readonly value: unknown;
}

/** One step into a list or a map: what is there, and how a person calls it. */
function stepInto({ name, value }: Found, step: PropertyKey): Found {
  const inside = typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>) : {};
  const entry = Object.hasOwn(inside, step) ? inside[step] : undefined;
  return { name: Array.isArray(value) ? `${name}[${String(step)}]` : `${name}.${String(step)}`, value: entry };
}

/** The places inside of a list or a map that an issue is about; one without steps is the whole value. */
function badPlaces(issue: z.core.$ZodIssue): (readonly PropertyKey[])[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => [...issue.path, name]);
  if (issue.path.length > 0) return [issue.path];
  // Of several forms a value may have, the one that finds fault with entries alone is the one that was meant.
  const forms = issue.code === 'invalid_union' ? issue.errors : [];
  const meant = forms.find((issues) => issues.every(({ path }) => path.length > 0));
  return meant === undefined ? [[]] : meant.flatMap(badPlaces);
}

/** Without its command no agent can start; a program that reads the code can tell that from a wrong number. */
function codeFor(key: SettingKey): ErrorCode {
  return key === 'agent.command' || key === 'codex.command' ? 'missing_agent_command' : 'invalid_workflow_config';
}

/** Keys under which somebody may have put a secret in the wrong place: it is not printed back. */
const mayHoldSecret: ReadonlySet<string> = new Set([
  'tracker',
  'tracker.provider',
  'store',
  'store.url',
  'workspace',
  'workspace.repo',
  'agent.accounts',
  'notify',
  'notify.targets',
]);

function found(key: string, raw: unknown): string {
  if (raw === undefined) return 'nothing';
  return mayHoldSecret.has(key) && typeof raw !== 'object' ? `a ${typeof raw}, not shown` : shown(raw);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
