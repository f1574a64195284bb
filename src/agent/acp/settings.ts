import type { BackendProfile, BackendSettings } from '../../core/backend-profile.ts';
import { choice, type Section, setting, type TokenPrice } from '../../core/settings/setting.ts';
import type { Settings } from '../../core/settings.ts';
import { type Preset, presets } from './presets.ts';

const keys = {
  preset: setting(choice('claude-agent-acp', 'codex-acp', 'opencode', 'gemini'), null, 'next run', 'guarded', {
    description: 'A program for which Baton knows the command, the mode and the files of the login.',
    defaultText: '`claude-agent-acp`, but none when `acp.command` is set',
  }),
  command: setting('non_blank_text', null, 'next run', 'guarded', {
    description: 'The shell command that starts the agent. It speaks the protocol on its standard streams.',
    defaultText: 'that of the preset',
    code: 'missing_agent_command',
  }),
  mode: setting('non_blank_text', null, 'next run', 'guarded', {
    description:
      'The mode of the session, by the id that the agent itself uses. An id that the agent does not know is an error.',
    defaultText: "that of the preset, otherwise the agent's own",
  }),
  model: setting('non_blank_text', null, 'next run', 'open', {
    description: 'The model, by the id that the agent itself uses. An id that the agent does not know is an error.',
    defaultText: "the agent's own",
  }),
  tools: setting(choice('mcp', 'none'), 'mcp', 'next run', 'open', {
    description: "How the agent gets Baton's tools: over MCP, or not at all.",
  }),
};

const section: BackendSettings = { section: 'acp', keys };

/** The facts about the backend `acp` that the workflow file depends on. */
export const acpProfile: BackendProfile = {
  name: 'acp',
  settings: section,
  // Each program has keys of its own: the workflow file names them in `agent.env`.
  environment: [],
  homeVariable: null,
  reports: 'if_told',
};

export interface AcpOptions {
  /** For people: the name of the preset. */
  readonly name: string;
  readonly preset: Preset | null;
  readonly command: string;
  readonly mode: string | null;
  readonly model: string | null;
  readonly tools: 'mcp' | 'none';
  /** The version of Baton. */
  readonly version: string;
  /** How Baton answers requests for permission. */
  readonly approvals: 'auto' | 'deny' | 'ask';
  /** The longest silence while the agent owes an answer. */
  readonly readTimeoutMs: number;
  /** The longest silence inside a turn. */
  readonly turnTimeoutMs: number;
  /** The prices of the workflow file, which win over the reported cost. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
}

/** The only place that reads the settings of the section. */
export function acpOptions({ backends, agent }: Pick<Settings, 'backends' | 'agent'>, version: string): AcpOptions {
  // `workflow/` parsed the section with the keys above.
  const { preset: named, command, mode, model, tools } = backends.acp as Section<typeof keys>;
  const usual = command === null ? usualPreset : null;
  const name = named ?? usual;
  const preset: Preset | null = name === null ? null : presets[name];
  const started = command ?? preset?.command ?? presets[usualPreset].command;
  const { approvals, readTimeoutMs, turnTimeoutMs, prices } = agent;
  const own = { name: name ?? 'The ACP agent', preset, command: started, mode, model, tools, version };
  return { ...own, approvals, readTimeoutMs, turnTimeoutMs, prices };
}

const usualPreset = 'claude-agent-acp';
