import type { EndedSession } from '../backend.ts';
import { shellWord } from '../shell-text.ts';
import type { ClaudeOptions } from './settings.ts';

/**
 * The POSIX shell command that opens the same session by hand, with the same sources of settings: those of the
 * repository do not count there either.
 */
export function claudeResumeCommand(
  { workspace, threadId, home, gitDir }: EndedSession,
  { permissionMode, settingSources }: Pick<ClaudeOptions, 'permissionMode' | 'settingSources'>,
): string {
  const words = [
    ...['claude', '--resume', threadId, '--permission-mode', permissionMode],
    ...['--setting-sources', settingSources.join(','), '--strict-mcp-config'],
    ...(gitDir === null ? [] : ['--add-dir', gitDir]),
  ];
  return `cd ${shellWord(workspace)} && ${withHome(home, words.map(shellWord).join(' '))}`;
}

export function claudeLoginCommand(home: string | null): string {
  return withHome(home, 'claude auth login');
}

function withHome(home: string | null, command: string): string {
  return home === null ? command : `CLAUDE_CONFIG_DIR=${shellWord(home)} ${command}`;
}
