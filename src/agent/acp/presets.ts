import type { EndedSession, HomeParts } from '../backend.ts';
import { claudeHomeParts } from '../claude/home-parts.ts';
import { codexHomeParts } from '../codex/home-parts.ts';
import { shellWord } from '../shell-text.ts';

/** Everything that Baton knows about one program of the Agent Client Protocol. */
export interface Preset {
  readonly command: string;
  /** The shell command that installs the version which the tests use; without tests, the newest. */
  readonly install: string;
  /** The version that the tests with the real program use; null: no test does. */
  readonly tested: string | null;
  /** How a person logs in. */
  readonly login: string;
  /** The mode in which it works in its workspace without asking for each change; null: its own. */
  readonly mode: string | null;
  /** Files and folders of its login and its conversations. */
  readonly paths: readonly string[];
  /** What it needs of the first of `paths`; absent: all of it. */
  readonly parts?: (workspace: string) => HomeParts;
  readonly hosts: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What `session/new` passes on to the program itself, beyond the protocol. */
  readonly meta?: (place: SessionPlace) => object;
  /** The command that opens the same conversation by hand; absent where the program has none. */
  readonly resume?: (session: EndedSession) => string;
}

export interface SessionPlace {
  readonly workspace: string;
  readonly writableRoots: readonly string[];
}

/** The name of Baton's own tools among the MCP servers of a session. */
export const ownServer = 'baton';

const inWorkspace = (workspace: string, ...words: readonly string[]): string =>
  `cd ${shellWord(workspace)} && ${words.map(shellWord).join(' ')}`;

export const presets = {
  'claude-agent-acp': {
    command: 'claude-agent-acp',
    install: 'npm install --global @agentclientprotocol/claude-agent-acp@0.99.1',
    tested: '0.99.1',
    login: 'Log in with `claude auth login`, or name ANTHROPIC_API_KEY in agent.env.',
    mode: 'acceptEdits',
    paths: ['~/.claude', '~/.claude.json'],
    parts: claudeHomeParts,
    hosts: ['api.anthropic.com', 'claude.ai', 'platform.claude.com'],
    env: { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1' },
    // Without these, settings files of the repository would widen what the agent may do, and turns begin by themselves.
    meta: ({ workspace, writableRoots }) => ({
      claudeCode: {
        options: {
          settingSources: ['user'],
          strictMcpConfig: true,
          allowedTools: [`mcp__${ownServer}`],
          disallowedTools: ['CronCreate', 'ScheduleWakeup', 'RemoteTrigger', 'EnterWorktree'],
          additionalDirectories: [workspace, ...writableRoots],
          promptSuggestions: false,
        },
      },
    }),
    resume: ({ workspace, threadId }) =>
      inWorkspace(workspace, 'claude', '--resume', threadId, '--setting-sources', 'user', '--strict-mcp-config'),
  },
  'codex-acp': {
    command: 'codex-acp',
    install: 'npm install --global @agentclientprotocol/codex-acp@2.6.0',
    tested: '2.6.0',
    login: 'Log in with `codex login`.',
    mode: 'workspace-write',
    paths: ['~/.codex'],
    parts: codexHomeParts,
    hosts: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
    env: {},
    resume: ({ workspace, threadId }) => inWorkspace(workspace, 'codex', 'resume', threadId),
  },
  opencode: {
    command: 'opencode acp',
    install: 'npm install --global opencode-ai@1.18.33',
    tested: '1.18.33',
    login: 'Log in with `opencode auth login`.',
    mode: null,
    paths: ['~/.config/opencode', '~/.local/share/opencode', '~/.local/state/opencode', '~/.cache/opencode'],
    hosts: ['opencode.ai', 'models.dev'],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
    resume: ({ workspace, threadId }) => inWorkspace(workspace, 'opencode', '--session', threadId),
  },
  gemini: {
    command: 'gemini --acp',
    install: 'npm install --global @google/gemini-cli',
    tested: null,
    login: 'Log in with `gemini`, or name GEMINI_API_KEY in agent.env.',
    mode: null,
    paths: ['~/.gemini'],
    hosts: ['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'oauth2.googleapis.com'],
    env: { GEMINI_CLI_NO_RELAUNCH: '1' },
  },
} as const satisfies Record<string, Preset>;
