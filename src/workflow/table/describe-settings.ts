import { Secret } from '../../core/text/secret.ts';
import type { TrackerProfile } from '../../core/tracker-profile.ts';
import type { SettingsInForce } from './setting.ts';
import { settingRows } from './setting-table.ts';

/** One setting in force, as `baton validate` prints it. */
export interface DescribedSetting {
  /** Dotted, as in the file. */
  readonly key: string;
  /** JSON data; a secret is `[secret]`. */
  readonly value: unknown;
  /**
   * `default`, `default, as codex.x is y`, `file`, `file, via $NAME`, `file (older spelling tracker.x)`,
   * `file (other spelling codex.x)` or `environment $NAME`.
   */
  readonly origin: string;
}

/** Every setting in force and where its value comes from: the table's in its order, then the provider's. */
export function describeSettings(
  settings: SettingsInForce,
  profile: TrackerProfile,
  origins: ReadonlyMap<string, string>,
): DescribedSetting[] {
  const described = (key: string, value: unknown): DescribedSetting => ({
    key,
    value: value instanceof Secret ? value.toJSON() : withoutCredentials(value),
    origin: origins.get(key) ?? 'default',
  });
  const fromTable = settingRows.flatMap(([key, { effective }]) =>
    effective === undefined ? [] : [described(key, effective(settings))],
  );
  const { provider } = settings.tracker;
  const known = profile.keys.map(({ name }) => described(`tracker.provider.${name}`, provider[name]));
  // Nobody knows what an unknown key holds; it may be a misspelt secret.
  const unknown = Object.keys(provider)
    .filter((name) => !profile.keys.some((key) => key.name === name))
    .map((name) => ({ key: `tracker.provider.${name}`, value: '[not shown: unknown key]', origin: 'file' }));
  return [...fromTable, ...known, ...unknown];
}

/** An address may carry a user and a password; people see where it leads, not how to get in. */
function withoutCredentials(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/i, '$1[secret]@') : value;
}
