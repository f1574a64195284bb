import type { EditGuard } from '../core/settings/setting.ts';
import type { Settings } from '../core/settings.ts';
import { Secret } from '../core/text/secret.ts';
import type { TrackerProfile } from '../core/tracker-profile.ts';
import { type FrontMatter, isMap } from './parse-front-matter.ts';
import type { SettingRow } from './table/setting-table.ts';

/** A setting in force, to compare two readings of a file by. Never printed: `identity` has secrets in the clear. */
export interface ComparedSetting {
  /** Dotted, as in the file. */
  readonly key: string;
  readonly guard: EditGuard;
  /** Equal for equal values. */
  readonly identity: string;
}

/** Every setting in force: those of the table, then those of the provider. */
export function comparedSettings(
  settings: Settings,
  rows: readonly SettingRow[],
  profile: TrackerProfile,
): readonly ComparedSetting[] {
  const { provider } = settings.tracker;
  const known = new Map(profile.keys.map((key) => [key.name, key]));
  const unknown = Object.fromEntries(Object.entries(provider).filter(([name]) => !known.has(name)));
  const inTable = rows.filter(({ aliasOf, unsupported }) => aliasOf === undefined && unsupported === undefined);
  return [
    ...inTable.map(({ key, guard, path }) => {
      const value = path.reduce<unknown>((above, name) => (above as Record<string, unknown>)[name], settings);
      const compared = { 'tracker.provider': unknown, agents: writtenAgents(settings) }[key] ?? value;
      return { key, guard, identity: identityOf(compared) };
    }),
    ...profile.keys.map(({ name, guard }) => ({
      key: `tracker.provider.${name}`,
      guard,
      identity: identityOf(provider[name]),
    })),
  ];
}

/** The agents as the file has them: what they take over from other keys is compared there. */
export function writtenAgents({ agents }: Settings): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(agents).map(([name, { written }]) => [name, written]));
}

/** JSON has secrets as `[secret]`; a comparison needs their values. */
function identityOf(value: unknown): string {
  const revealed = function (this: Record<string, unknown>, name: string, shown: unknown): unknown {
    const own = this[name];
    return own instanceof Secret ? { secret: own.reveal() } : shown;
  };
  return JSON.stringify(value, revealed) ?? 'null';
}

/** The keys whose values differ, and those of them whose change waits for a person. */
export function changedSettings(
  before: readonly ComparedSetting[],
  after: readonly ComparedSetting[],
): { readonly changed: readonly string[]; readonly guarded: readonly string[] } {
  const [old, now] = [before, after].map((all) => new Map(all.map((setting) => [setting.key, setting])));
  const all = new Map([...before, ...after].map((setting) => [setting.key, setting]));
  const changed = [...all.values()].filter(({ key }) => old?.get(key)?.identity !== now?.get(key)?.identity);
  const guarded = changed.filter(({ key, guard }) => waits(guard, old?.get(key)?.identity, now?.get(key)?.identity));
  return { changed: changed.map(({ key }) => key), guarded: guarded.map(({ key }) => key) };
}

function waits(guard: EditGuard, before: string | undefined, after: string | undefined): boolean {
  return guard === 'guarded_upwards' ? isRaised(before, after) : guard === 'guarded';
}

/** Of a map: whether one of its limits is higher than before, or gone. */
function isRaised(before = 'null', after = 'null'): boolean {
  const [old, now]: unknown[] = [JSON.parse(before), JSON.parse(after)];
  if (!isMap(old)) return heightOf(now) > heightOf(old);
  return Object.entries(old).some(([name, limit]) => heightOf(isMap(now) ? now[name] : null) > heightOf(limit));
}

/** 0 is no limit, and so is less. */
function heightOf(limit: unknown): number {
  return typeof limit === 'number' && limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

/** Front matter with the values of an earlier one for these keys, in each of their spellings. */
export function withValuesOf(before: FrontMatter, after: FrontMatter, keys: readonly string[]): FrontMatter {
  const mixed = structuredClone(after) as Record<string, unknown>;
  for (const key of keys.flatMap(spellingsOf)) put(mixed, key.split('.'), valueAt(before, key.split('.')));
  return mixed;
}

/** A key of a provider may also stand directly under `tracker`. */
function spellingsOf(key: string): readonly string[] {
  return key.startsWith('tracker.provider.') ? [key, key.replace('provider.', '')] : [key];
}

function valueAt(frontMatter: FrontMatter, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (above, name) => (isMap(above) && Object.hasOwn(above, name) ? above[name] : undefined),
    frontMatter,
  );
}

function put(frontMatter: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let above = frontMatter;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(above, name) || !isMap(above[name])) {
      if (value === undefined) return;
      above[name] = {};
    }
    above = above[name] as Record<string, unknown>; // A map of the copy.
  }
  const last = path.at(-1) ?? '';
  if (value === undefined) delete above[last];
  else above[last] = value;
}
