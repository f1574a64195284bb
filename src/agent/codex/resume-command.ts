import type { EndedSession } from '../backend.ts';
import { shellWord } from '../shell-text.ts';

export interface CodexThread extends EndedSession {
  /** The sandbox of a turn; null where the command line of Codex has no name for it: then Codex uses its own settings. */
  readonly sandbox: string | null;
}

/**
 * The POSIX shell command that opens the same thread by hand. Three things must hold. The thread is free again when the
 * person closes it: without `--no-daemon` a shared server would keep it (see `thread-in-use.ts`). A commit works as in
 * a turn. Codex asks nothing that it would write into the person's settings: the workspace is not trusted, as in a
 * turn.
 */
export function codexResumeCommand({ workspace, threadId, home, sandbox, gitDir }: CodexThread): string {
  const words = [
    'codex',
    'resume',
    '--no-daemon',
    ...(sandbox === null ? [] : ['--sandbox', sandbox]),
    ...(sandbox === 'workspace-write' && gitDir !== null ? ['--add-dir', gitDir] : []),
    '-c',
    `projects={${tomlString(workspace)}={trust_level="untrusted"}}`,
    threadId,
  ];
  return `cd ${shellWord(workspace)} && ${withHome(home, words.map(shellWord).join(' '))}`;
}

/** The command that ends the shared server of Codex, and with it every thread that is open there. */
export function codexStopServerCommand(home: string | null): string {
  return withHome(home, 'codex app-server daemon stop');
}

export function codexLoginCommand(home: string | null): string {
  return withHome(home, 'codex login');
}

/**
 * Logs the account in with an API key. The key comes from a variable, so it is in no shell history and no process list.
 */
export function codexKeyLoginCommand(home: string | null): string {
  return `printenv OPENAI_API_KEY | ${codexLoginCommand(home)} --with-api-key`;
}

function withHome(home: string | null, command: string): string {
  return home === null ? command : `CODEX_HOME=${shellWord(home)} ${command}`;
}

/** JSON escapes strings as TOML does, except for one character. */
function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
