import type { BackendSettings } from '../../core/backend-profile.ts';
import { choice, type Section, setting } from '../../core/settings/setting.ts';
import type { Settings } from '../../core/settings.ts';

const keys = {
  command: setting('non_blank_text', 'codex app-server', 'next run', 'guarded', {
    description: 'The shell command that starts the Codex app server.',
    code: 'missing_agent_command',
  }),
  approval_policy: setting(
    'text_or_map',
    { reject: { sandbox_approval: true, rules: true, mcp_elicitations: true } },
    'next run',
    'guarded',
    { description: 'Passed to Codex unchanged. A map replaces the whole default.' },
  ),
  thread_sandbox: setting('text', 'workspace-write', 'next run', 'guarded', {
    description: 'Passed to Codex unchanged.',
  }),
  turn_sandbox_policy: setting('map', null, 'next run', 'guarded', {
    description: 'Passed to Codex unchanged.',
    defaultText: 'made for each workspace',
  }),
  tools: setting(choice('dynamic', 'mcp', 'none'), 'dynamic', 'next run', 'open', {
    description: "How Codex gets Baton's tools: over its own protocol (`dynamic`), over MCP, or not at all.",
  }),
};

export type CodexSettings = Section<typeof keys>;

export const codexSection: BackendSettings = {
  section: 'codex',
  keys,
  // The specification spells these three under `codex`.
  aliases: {
    'codex.turn_timeout_ms': 'agent.turn_timeout_ms',
    'codex.read_timeout_ms': 'agent.read_timeout_ms',
    'codex.stall_timeout_ms': 'agent.stall_timeout_ms',
  },
  // A user who lets Codex ask for nothing does not want Baton to ask either.
  implied: [{ key: 'agent.approvals', value: 'auto', when: 'codex.approval_policy', is: 'never' }],
};

export function codexSettings({ backends }: Pick<Settings, 'backends'>): CodexSettings {
  // `workflow/` parsed the section with the keys above.
  return backends.codex as CodexSettings;
}
