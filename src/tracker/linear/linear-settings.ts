import { BatonError } from '../../core/baton-error.ts';
import { normalizeState } from '../../core/issue/issue.ts';
import type { ProblemDetails } from '../../core/problem.ts';
import type { TrackerSettings } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';

/** The adapter's settings, read once: a tracker keeps its address and key when the workflow file changes later. */
export interface LinearSettings {
  readonly endpoint: string;
  readonly key: Secret;
  readonly projectSlug: string;
  /** A user's id or e-mail, or `me`; null means the issues of all users. */
  readonly assignee: string | null;
  /** Normalised. */
  readonly activeStates: ReadonlySet<string>;
  readonly terminalStates: ReadonlySet<string>;
  readonly toolScope: ToolScope;
}

/**
 * What an agent can reach with `linear_graphql`: changes of its own issue and reads of the project, changes of the
 * whole project too, or everything that the key can reach.
 */
export type ToolScope = (typeof toolScopes)[number];

export const toolScopes = ['issue', 'project', 'any'] as const;

export const defaultToolScope: ToolScope = 'issue';

export function isToolScope(value: unknown): value is ToolScope {
  return (toolScopes as readonly unknown[]).includes(value);
}

export function readLinearSettings({ provider, activeStates, terminalStates }: TrackerSettings): LinearSettings {
  const { api_key: key, assignee } = provider;
  const toolScope = provider.tool_scope ?? defaultToolScope;
  if (!(key instanceof Secret)) throw unusable('api_key');
  if (!isToolScope(toolScope)) {
    throw unusable('tool_scope', 'must be `issue`, `project` or `any`', {
      problem: 'wrong_value',
      allowed: toolScopes,
    });
  }
  return {
    endpoint: textOf(provider.endpoint, 'endpoint'),
    key,
    projectSlug: textOf(provider.project_slug, 'project_slug'),
    assignee: assignee === null || assignee === undefined ? null : textOf(assignee, 'assignee'),
    activeStates: new Set(activeStates.map(normalizeState)),
    terminalStates: new Set(terminalStates.map(normalizeState)),
    toolScope,
  };
}

/** A personal key is sent unchanged, the token of an OAuth application as a bearer token (linear.app/developers). */
export function authorization(key: Secret): string {
  const value = key.reveal();
  return value.startsWith('lin_oauth_') ? `Bearer ${value}` : value;
}

function textOf(value: unknown, name: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  throw unusable(name);
}

function unusable(name: string, problem = 'is missing or not text', details: ProblemDetails = {}): BatonError {
  const key = `tracker.provider.${name}`;
  return new BatonError('invalid_tracker_config', `${key} ${problem}.`, { details: { key, ...details } });
}
