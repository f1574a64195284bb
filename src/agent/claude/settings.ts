import type { BackendProfile, BackendSettings } from '../../core/backend-profile.ts';
import { choice, type Section, setting, type TokenPrice } from '../../core/settings/setting.ts';
import type { Settings } from '../../core/settings.ts';

const keys = {
  command: setting('non_blank_text', 'claude', 'next run', 'guarded', {
    description: 'The shell command that starts Claude Code. Baton adds its arguments.',
    code: 'missing_agent_command',
  }),
  model: setting('non_blank_text', null, 'next run', 'open', {
    description: 'The model, by name or alias (`opus`, `sonnet`).',
    defaultText: "Claude Code's own",
  }),
  permission_mode: setting(
    choice('default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'),
    'acceptEdits',
    'next run',
    'guarded',
    {
      description:
        'What Claude Code does without asking: `acceptEdits` changes files in the workspace; `default` asks for that too.',
    },
  ),
  allowed_tools: setting('text_list', [], 'next run', 'guarded', {
    description: 'Tools that need no approval, such as `Bash` or `Bash(npm test *)`.',
  }),
  disallowed_tools: setting('text_list', [], 'next run', 'guarded', { description: 'Tools that are not available.' }),
  setting_sources: setting('text_list', ['user'], 'next run', 'guarded', {
    description:
      'Which settings files Claude Code reads: `user`, `project`, `local`. With the last two, a repository can allow tools and start programs.',
  }),
  sandbox: setting('map', null, 'next run', 'guarded', {
    description:
      "The section `sandbox` of Claude Code's settings. If Claude Code cannot make its sandbox, no run starts.",
    defaultText: 'as in your settings',
  }),
  tools: setting(choice('mcp', 'none'), 'mcp', 'next run', 'open', {
    description: "How Claude Code gets Baton's tools: over MCP, or not at all.",
  }),
  args: setting('text_list', [], 'next run', 'guarded', {
    description: "Further arguments, one for each entry of the list. They come after Baton's own and win over them.",
  }),
};

const section: BackendSettings = {
  section: 'claude',
  keys,
  // A user who lets Claude Code ask for nothing does not want Baton to ask either.
  implied: [{ key: 'agent.approvals', value: 'auto', when: 'claude.permission_mode', is: 'bypassPermissions' }],
};

/** The facts about the backend `claude` that the workflow file depends on. */
export const claudeProfile: BackendProfile = {
  name: 'claude',
  settings: section,
  environment: ['ANTHROPIC_*', 'CLAUDE_*'],
  homeVariable: 'CLAUDE_CONFIG_DIR',
  reports: 'cost',
};

export interface ClaudeOptions extends Section<typeof keys> {
  /** How Baton answers requests for permission. */
  readonly approvals: 'auto' | 'deny' | 'ask';
  /** The longest silence while Claude Code owes an answer. */
  readonly readTimeoutMs: number;
  /** The longest silence inside a turn. */
  readonly turnTimeoutMs: number;
  /** The prices of the workflow file, which win over the reported cost. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
}

/** The only place that reads the settings of Claude Code. */
export function claudeOptions({ backends, agent }: Pick<Settings, 'backends' | 'agent'>): ClaudeOptions {
  const { approvals, readTimeoutMs, turnTimeoutMs, prices } = agent;
  // `workflow/` parsed the section with the keys above.
  return { ...(backends.claude as Section<typeof keys>), approvals, readTimeoutMs, turnTimeoutMs, prices };
}
