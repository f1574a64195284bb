import type { Settings } from '../../core/settings.ts';
import type { AgentHost } from '../backend.ts';
import { type CodexSettings, codexSettings } from './settings.ts';

export interface CodexAgentOptions extends CodexSettings {
  /** How Baton answers what Codex wants to be allowed. */
  readonly approvals: 'auto' | 'deny' | 'ask';
  /** The longest silence while Codex owes an answer. */
  readonly readTimeoutMs: number;
  /** The longest silence inside a turn. */
  readonly turnTimeoutMs: number;
  /** Of Baton; Codex is told who it talks to. */
  readonly version: string;
}

/** What the settings say of Codex: the one place that reads them. */
export function codexOptions(settings: Settings, { version }: AgentHost): CodexAgentOptions {
  const { approvals, readTimeoutMs, turnTimeoutMs } = settings.agent;
  return { ...codexSettings(settings), approvals, readTimeoutMs, turnTimeoutMs, version };
}
