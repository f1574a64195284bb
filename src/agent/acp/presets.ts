import type { EndedSession, HomeParts } from '../backend.ts';
import { claudeHomeParts } from '../claude/home-parts.ts';
import { claudeResumeCommand } from '../claude/resume-command.ts';
import { neverOffered } from '../claude/session/arguments.ts';
import { editors } from '../claude/turn/items.ts';
import { codexHomeParts } from '../codex/home-parts.ts';
import { codexResumeCommand } from '../codex/resume-command.ts';
import { ownFolder } from '../own-folder.ts';
import { shellWord } from '../shell-text.ts';
import { geminiHomeParts, opencodeHomeParts } from './home-parts.ts';

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
  /** Its mode, and further variables, in a session that only reads its workspace. */
  readonly readOnly: { readonly mode: string; readonly env?: Readonly<Record<string, string>> };
  /** Files and folders of its login and its conversations. */
  readonly paths: readonly string[];
  /** What it needs of the first of `paths`; absent: all of it. */
  readonly parts?: (workspace: string) => HomeParts;
  readonly hosts: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its sub-agents report in sessions of their own, and the sum of a turn leaves their tokens out. */
  readonly hasHelperSessions?: true;
  /** At the end of a turn it reports the tokens of the last call of the model, not of all calls. */
  readonly reportsLastCall?: true;
  /** What `session/new` passes on to the program itself, beyond the protocol. */
  readonly meta?: (place: SessionPlace) => object;
  /** The command that opens the same conversation by hand; absent where the program has none. */
  readonly resume?: (session: EndedSession) => string;
}

export interface SessionPlace {
  readonly workspace: string;
  readonly writableRoots: readonly string[];
  readonly isReadOnly?: boolean;
}

/** The name of Baton's own tools among the MCP servers of a session. */
export const ownServer = 'baton';

const opencodeData = '~/.local/share/opencode';

export const presets = {
  'claude-agent-acp': {
    command: 'claude-agent-acp',
    install: 'npm install --global @agentclientprotocol/claude-agent-acp@0.99.1',
    tested: '0.99.1',
    login: 'Log in with `claude auth login`, or name ANTHROPIC_API_KEY in agent.env.',
    mode: 'acceptEdits',
    readOnly: { mode: 'default' },
    paths: ['~/.claude', '~/.claude.json'],
    parts: claudeHomeParts,
    hosts: ['api.anthropic.com', 'claude.ai', 'platform.claude.com'],
    env: { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1', MCP_TOOL_TIMEOUT: '604800000' },
    // Without these, settings files of the repository would widen what the agent may do, and turns begin by themselves.
    meta: ({ workspace, writableRoots, isReadOnly = false }) => ({
      claudeCode: {
        options: {
          settingSources: ['user'],
          strictMcpConfig: true,
          allowedTools: [`mcp__${ownServer}`],
          disallowedTools: [...neverOffered, ...(isReadOnly ? editors : [])],
          additionalDirectories: [workspace, ...writableRoots],
          promptSuggestions: false,
        },
      },
    }),
    resume: (session) =>
      claudeResumeCommand(
        { ...session, home: session.env?.CLAUDE_CONFIG_DIR ?? null },
        { permissionMode: 'acceptEdits', settingSources: ['user'] },
      ),
  },
  'codex-acp': {
    command: 'codex-acp',
    install: 'npm install --global @agentclientprotocol/codex-acp@2.6.0',
    tested: '2.6.0',
    login: 'Log in with `codex login`.',
    mode: 'workspace-write',
    readOnly: { mode: 'read-only' },
    paths: ['~/.codex'],
    parts: codexHomeParts,
    hosts: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
    env: {},
    hasHelperSessions: true,
    resume: (session) =>
      codexResumeCommand({ ...session, home: session.env?.CODEX_HOME ?? null, sandbox: 'workspace-write' }),
  },
  opencode: {
    command: 'opencode acp',
    install: 'npm install --global opencode-ai@1.18.33',
    tested: '1.18.33',
    login: 'Log in with `opencode auth login`.',
    mode: null,
    // The mode alone lets it run commands, and write its plans into the workspace.
    readOnly: { mode: 'plan', env: { OPENCODE_PERMISSION: '{"edit":"deny","bash":"ask"}' } },
    // Of its state only the model that was used last: it also has all prompts of the user.
    paths: [opencodeData, '~/.config/opencode', '~/.local/state/opencode/model.json', '~/.cache/opencode'],
    parts: opencodeHomeParts,
    hosts: ['opencode.ai', 'models.dev'],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
    reportsLastCall: true,
    // Without isolation the conversation is in the database of the user: then the variable is empty.
    resume: ({ workspace, threadId }) =>
      `cd ${shellWord(workspace)} && OPENCODE_DB=$(ls ${opencodeData}/${ownFolder(workspace)}/opencode.db 2>/dev/null) opencode --session ${shellWord(threadId)}`,
  },
  gemini: {
    command: 'gemini --acp',
    install: 'npm install --global @google/gemini-cli',
    tested: null,
    login: 'Log in with `gemini`, or name GEMINI_API_KEY in agent.env.',
    mode: null,
    readOnly: { mode: 'default' },
    paths: ['~/.gemini'],
    parts: geminiHomeParts,
    hosts: ['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'oauth2.googleapis.com'],
    env: { GEMINI_CLI_NO_RELAUNCH: '1' },
  },
} as const satisfies Record<string, Preset>;
