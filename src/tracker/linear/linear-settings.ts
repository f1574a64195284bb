import { BatonError } from '../../core/baton-error.ts';
import { normalizeState } from '../../core/issue.ts';
import { Secret } from '../../core/secret.ts';
import type { TrackerSettings } from '../../core/settings.ts';

/** What the adapter needs of a workflow file. Taken once: a tracker keeps its address and key whatever the file says later. */
export interface LinearSettings {
  readonly endpoint: string;
  readonly key: Secret;
  readonly projectSlug: string;
  /** A user's id or e-mail, or `me`; null: everybody's issues. */
  readonly assignee: string | null;
  /** Normalised. */
  readonly terminalStates: ReadonlySet<string>;
}

export function readLinearSettings({ provider, terminalStates }: TrackerSettings): LinearSettings {
  const { api_key: key, assignee } = provider;
  if (!(key instanceof Secret)) throw unusable('api_key');
  return {
    endpoint: textOf(provider.endpoint, 'endpoint'),
    key,
    projectSlug: textOf(provider.project_slug, 'project_slug'),
    assignee: assignee === null || assignee === undefined ? null : textOf(assignee, 'assignee'),
    terminalStates: new Set(terminalStates.map(normalizeState)),
  };
}

/** A personal key is sent as it is, the token of an OAuth application as a bearer's (linear.app/developers). */
export function authorization(key: Secret): string {
  const value = key.reveal();
  return value.startsWith('lin_oauth_') ? `Bearer ${value}` : value;
}

function textOf(value: unknown, name: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  throw unusable(name);
}

function unusable(name: string): BatonError {
  const key = `tracker.provider.${name}`;
  return new BatonError('invalid_tracker_config', `${key} is missing or not text.`, { details: { key } });
}
