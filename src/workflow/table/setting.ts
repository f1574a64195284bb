import type { Settings } from '../../core/settings.ts';
import type { SettingType } from './setting-types.ts';

/** All that the file decides: the settings, and what is made of them while the file is read. */
export interface SettingsInForce extends Settings {
  readonly branchTemplate: string;
  /** Of the quiet hours, whether there are any or not. */
  readonly timeZone: string;
  /** Of the quiet hours of notifications, whether there are any or not. */
  readonly notifyTimeZone: string;
}

/** One key of the front matter. `T` is what the file may hold, `D` what holds when the file says nothing. */
export interface Setting<T, D> extends SettingType<T> {
  readonly description: string;
  readonly default: D;
  /** The default in words, where it is no constant. */
  readonly defaultText?: string;
  /** The value in force. A key without it is another spelling of one, or has no effect yet. */
  readonly effective?: (settings: SettingsInForce) => unknown;
  /** Why the key has no effect in this version: as an error nothing runs, as a warning it is said and left at that. */
  readonly unsupported?: { readonly severity: 'error' | 'warning'; readonly because: string };
}

type Rest<T, D> = Omit<Setting<T, D>, keyof SettingType<T> | 'default' | 'description'>;

export function setting<T, D>(
  type: SettingType<T>,
  byDefault: D,
  description: string,
  rest: Rest<T, D> = {},
): Setting<T, D> {
  return { ...type, default: byDefault, description, ...rest };
}
