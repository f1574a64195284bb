import { Secret } from '../../core/text/secret.ts';
import type { ProviderKey } from '../../core/tracker-profile.ts';
import { type FrontMatter, isMap } from '../parse-front-matter.ts';
import { flag } from '../table/setting-types.ts';
import type { Place } from '../workflow-context.ts';
import type { Report } from '../workflow-problems.ts';
import { literalSecret, lookUp, resemblesReference, resolvePath, takenLiterally, variableNamed } from './references.ts';

/** The effective value of a provider key. */
export interface ResolvedKey {
  /** Null when missing; the raw value of the file when it has the wrong type. */
  readonly value: unknown;
  readonly origin: string;
  readonly ofItsType: boolean;
  /** Why there is no value although the file or the environment seems to set one. */
  readonly lack: Lack | null;
}

/** What is blank or unset: these variables, or the text of the file when there are none. */
interface Lack {
  readonly problem: 'blank' | 'not_set';
  readonly variables: readonly string[];
}

/**
 * The value of one provider key: `tracker.provider.<name>`, else the older `tracker.<name>`, else the key's own
 * environment variable, else its default. A value that is blank, or names a variable that is set but blank, counts as
 * missing: the user cleared it on purpose (reference implementation, section 1.3).
 */
export function resolveProviderKey(key: ProviderKey, tracker: FrontMatter, place: Place, report: Report): ResolvedKey {
  const written = findWritten(key, tracker);
  if (written === null) return fromOutside(key, place, null);
  const { raw, origin, name } = written;

  if (key.type === 'boolean') {
    const read = flag.safeParse(raw);
    return { value: read.success ? read.data : raw, origin, ofItsType: read.success, lack: null };
  }
  if (typeof raw !== 'string') return { value: raw, origin, ofItsType: false, lack: null };

  const variable = variableNamed(raw);
  if (variable === null) {
    reportDoubts(key, name, raw, report);
    return { value: toValue(key, raw, place), origin, ofItsType: true, lack: lackOf(raw) };
  }
  const found = lookUp(place.surroundings.env, variable);
  if (found === undefined) return fromOutside(key, place, variable);
  const lack = lackOf(found, variable);
  return { value: toValue(key, found, place), origin: `${origin}, via $${variable}`, ofItsType: true, lack };
}

function lackOf(text: string, ...variables: readonly string[]): Lack | null {
  return text.trim() === '' ? { problem: 'blank', variables } : null;
}

/** The variables that may hold the secret of this key, in either spelling, set or not. */
export function secretVariables(key: ProviderKey, tracker: FrontMatter): string[] {
  if (key.secret !== true) return [];
  const written = [providerOf(tracker)[key.name], tracker[key.name]];
  const named = written.map((raw) => (typeof raw === 'string' ? variableNamed(raw) : null));
  return [key.fallbackEnv ?? null, ...named].filter((name) => name !== null);
}

/** The map `tracker.provider`; empty when it is absent or not a map. */
export function providerOf(tracker: FrontMatter): FrontMatter {
  return isMap(tracker.provider) ? tracker.provider : {};
}

function findWritten(key: ProviderKey, tracker: FrontMatter): { raw: unknown; origin: string; name: string } | null {
  const provider = providerOf(tracker);
  if (Object.hasOwn(provider, key.name)) {
    return { raw: provider[key.name], origin: 'file', name: `tracker.provider.${key.name}` };
  }
  if (key.flat !== true || !Object.hasOwn(tracker, key.name)) return null;
  const name = `tracker.${key.name}`;
  return { raw: tracker[key.name], origin: `file (older spelling ${name})`, name };
}

function fromOutside(key: ProviderKey, place: Place, unsetVariable: string | null): ResolvedKey {
  const unset = [unsetVariable, key.fallbackEnv ?? null].filter((name) => name !== null);
  const { fallbackEnv } = key;
  const found = fallbackEnv === undefined ? undefined : lookUp(place.surroundings.env, fallbackEnv);
  if (fallbackEnv !== undefined && found !== undefined) {
    const lack = lackOf(found, fallbackEnv);
    return { value: toValue(key, found, place), origin: `environment $${fallbackEnv}`, ofItsType: true, lack };
  }
  const lack: Lack | null = unset.length === 0 ? null : { problem: 'not_set', variables: [...new Set(unset)] };
  return { value: key.default ?? null, origin: 'default', ofItsType: true, lack };
}

function toValue(key: ProviderKey, text: string, place: Place): unknown {
  const value = text.trim();
  if (value === '') return null;
  if (key.secret === true) return new Secret(value);
  return key.type === 'path' ? resolvePath(value, place.workflowDir, place.surroundings) : value;
}

function reportDoubts(key: ProviderKey, name: string, raw: string, report: Report): void {
  if (resemblesReference(raw)) report(takenLiterally(name));
  if (key.secret === true && raw.trim() !== '') report(literalSecret(name));
}
