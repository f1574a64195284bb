import { quietHoursText } from '../../core/cadence/quiet-hours.ts';
import type { AccountSettings, NotifyTarget, QuietHours, Settings } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';
import type { TrackerProfile } from '../../core/tracker-profile.ts';
import { writtenAgents } from '../changed-settings.ts';
import type { SettingRow } from './setting-table.ts';

/** One effective setting, as `baton validate` prints it. */
export interface DescribedSetting {
  /** Dotted, as in the file. */
  readonly key: string;
  /** JSON data; a secret is `[secret]`. */
  readonly value: unknown;
  /**
   * `default`, `default, as a.x is y`, `file`, `file, via $NAME`, `file (older spelling tracker.x)`,
   * `file (other spelling a.x)` or `environment $NAME`.
   */
  readonly origin: string;
}

/** Keys whose value is shown differently from `Settings`. */
const shownAs: Readonly<Record<string, (settings: Settings) => unknown>> = {
  'agent.accounts': ({ agent }) => agent.accounts.map(describeAccount),
  'agent.prices': ({ agent }) =>
    Object.fromEntries(
      Object.entries(agent.prices).map(([model, { input, cachedInput, output }]) => [
        model,
        { input, cached_input: cachedInput ?? input, output },
      ]),
    ),
  agents: writtenAgents,
  'notify.quiet_hours': ({ notify }) => describeHours(notify.quietHours),
  'notify.targets': ({ notify }) => notify.targets.map(describeTarget),
  'polling.quiet_hours': ({ polling }) => describeHours(polling.quietHours),
  'workspace.repo': ({ workspace }) => workspace.repo?.shown ?? null,
};

/** Every effective setting and the origin of its value: those of the table in its order, then those of the provider. */
export function describeSettings(
  settings: Settings,
  rows: readonly SettingRow[],
  profile: TrackerProfile,
  origins: ReadonlyMap<string, string>,
): DescribedSetting[] {
  const described = (key: string, value: unknown): DescribedSetting => ({
    key,
    value: value instanceof Secret ? value.toJSON() : withoutCredentials(value),
    origin: origins.get(key) ?? 'default',
  });
  // `tracker.provider` is shown key by key.
  const inForce = rows.filter(
    ({ key, aliasOf, unsupported }) => key !== 'tracker.provider' && aliasOf === undefined && unsupported === undefined,
  );
  const fromTable = inForce.map((row) =>
    described(row.key, (shownAs[row.key] ?? ((all) => valueAt(all, row.path)))(settings) ?? row.default),
  );
  const { provider } = settings.tracker;
  const known = profile.keys.map(({ name }) => described(`tracker.provider.${name}`, provider[name]));
  // An unknown key may be a misspelt secret.
  const unknown = Object.keys(provider)
    .filter((name) => !profile.keys.some((key) => key.name === name))
    .map((name) => ({ key: `tracker.provider.${name}`, value: '[not shown: unknown key]', origin: 'file' }));
  return [...fromTable, ...known, ...unknown];
}

/** An address may contain a user and a password; only the rest is shown. */
function withoutCredentials(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/i, '$1[secret]@') : value;
}

function valueAt(settings: Settings, path: readonly string[]): unknown {
  return path.reduce<unknown>((above, name) => (above as Record<string, unknown>)[name], settings);
}

function describeHours(hours: QuietHours | null): string | null {
  return hours === null ? null : quietHoursText(hours);
}

/** Leaves out the values of variables: even one that does not look like a secret may be one. */
function describeAccount({ name, backend, env, home }: AccountSettings): Record<string, unknown> {
  return { name, backend, env: Object.keys(env), home };
}

/** A description for people, without secrets. */
function describeTarget(target: NotifyTarget): unknown {
  const { kind, events } = target;
  if (kind === 'tracker') return { kind, events };
  if (kind === 'command') {
    return { kind, run: target.run instanceof Secret ? target.run.toJSON() : target.run, events };
  }
  const shown = { kind, url: target.url.toJSON(), events, allow_insecure_endpoint: target.allowInsecure };
  return kind === 'webhook' ? { ...shown, secret: target.secret.toJSON() } : shown;
}
