import type { Settings } from '../../core/settings.ts';
import type { AgentHost } from '../backend.ts';
import { type CodexSettings, codexSettings } from './settings.ts';

export interface CodexAgentOptions extends CodexSettings {
  /** How Baton answers approval requests of Codex. */
  readonly approvals: 'auto' | 'deny' | 'ask';
  /** The longest silence while Codex owes an answer. */
  readonly readTimeoutMs: number;
  /** The longest silence inside a turn. */
  readonly turnTimeoutMs: number;
  /** The version of Baton, which it reports to Codex as its client version. */
  readonly version: string;
}

/** The only place that reads the settings of Codex. */
export function codexOptions(settings: Settings, { version }: AgentHost): CodexAgentOptions {
  const { approvals, readTimeoutMs, turnTimeoutMs } = settings.agent;
  return { ...codexSettings(settings), approvals, readTimeoutMs, turnTimeoutMs, version };
}
