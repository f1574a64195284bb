import type { SessionRequest } from '../../agent.ts';
import type { ClaudeOptions } from '../settings.ts';
import { editors } from '../turn/items.ts';

/** The name of Baton's own tools among the MCP servers of a session. */
export const ownServer = 'baton';
/** The variable in which Claude Code finds the token for Baton's tools: an argument would be visible to other users. */
const toolsTokenVariable = 'BATON_TOOLS_TOKEN';

/**
 * Tools with which Claude Code begins turns by itself, which Baton does not count and no turn limit ends, or leaves the
 * workspace for a worktree of its own.
 */
export const neverOffered: readonly string[] = ['CronCreate', 'ScheduleWakeup', 'RemoteTrigger', 'EnterWorktree'];

/** The smallest window that Claude Code accepts for compacting by itself. */
const leastWindowTokens = 100_000;
const longestToolMs = 7 * 24 * 3_600_000;

export type SessionStart = { readonly resume: string } | { readonly sessionId: string };

/**
 * The arguments of Claude Code. What must hold: no file of the repository changes what the agent may do, unless the
 * workflow names `project` or `local` as a source of settings. The repository's CLAUDE.md is still read, because the
 * workspace is an additional directory (`sessionEnvironment`). A read-only session has no tool that edits files, and asks for
 * whatever `allowed_tools` does not allow, which Baton declines.
 */
export function sessionArguments(options: ClaudeOptions, request: SessionRequest, start: SessionStart): string[] {
  const { recovery, writableRoots, workspace, isReadOnly = false } = request;
  const limits = [
    ...['--permission-mode', isReadOnly ? 'default' : options.permissionMode],
    ...['--disallowedTools', ...neverOffered, ...(isReadOnly ? editors : []), ...options.disallowedTools],
  ];
  const sandbox = sandboxOf(options.sandbox, isReadOnly);
  const model = recovery?.model ?? options.model;
  const budget = recovery?.budgetTokens;
  const hasTools = hasOwnServer(options, request);
  const allowed = [...options.allowedTools, ...(hasTools ? [`mcp__${ownServer}`] : [])];
  return [
    ...['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
    // Without partial messages the tokens of a long turn would be unknown until its end.
    ...['--include-partial-messages', '--forward-subagent-text', '--permission-prompt-tool', 'stdio'],
    ...['--setting-sources', options.settingSources.join(',')],
    ...['--strict-mcp-config', '--mcp-config', JSON.stringify({ mcpServers: hasTools ? ownServers(request) : {} })],
    ...(sandbox === null ? [] : ['--settings', JSON.stringify({ sandbox })]),
    ...(allowed.length === 0 ? [] : ['--allowedTools', ...allowed]),
    ...['--add-dir', workspace, ...writableRoots],
    ...(model === null ? [] : ['--model', model]),
    ...(budget === undefined ? [] : ['--autocompact', String(Math.max(budget, leastWindowTokens))]),
    ...(request.title === '' ? [] : ['--name', request.title]),
    ...('resume' in start ? ['--resume', start.resume] : ['--session-id', start.sessionId]),
    // The last ones win: those of the workflow file, except in a read-only session.
    ...(isReadOnly ? [...options.args, ...limits] : [...limits, ...options.args]),
  ];
}

export function hasOwnServer({ tools }: ClaudeOptions, { toolAddress }: SessionRequest): boolean {
  return tools === 'mcp' && toolAddress !== null;
}

/** Claude Code replaces `${…}` by the variable. */
function ownServers({ toolAddress }: SessionRequest): object {
  const headers = { Authorization: `Bearer \${${toolsTokenVariable}}` };
  return { [ownServer]: { type: 'http', url: toolAddress?.url, headers } };
}

/**
 * A sandbox that is asked for is made, or nothing starts: Claude Code would otherwise go on without it. It lets commands
 * write to the workspace, so a read-only session does not allow a command because it has a sandbox.
 */
function sandboxOf(sandbox: ClaudeOptions['sandbox'], isReadOnly: boolean): object | null {
  const asking = isReadOnly ? { autoAllowBashIfSandboxed: false } : null;
  if (sandbox === null) return asking;
  return { allowUnsandboxedCommands: false, ...sandbox, failIfUnavailable: sandbox.enabled !== false, ...asking };
}

export function sessionEnvironment(options: ClaudeOptions, request: SessionRequest): Readonly<Record<string, string>> {
  return {
    CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1',
    DISABLE_AUTOUPDATER: '1',
    // Baton limits each call itself; a call that waits for a person takes as long as that person may take.
    MCP_TOOL_TIMEOUT: String(longestToolMs),
    ...(hasOwnServer(options, request) ? { [toolsTokenVariable]: request.toolAddress?.token ?? '' } : {}),
  };
}
