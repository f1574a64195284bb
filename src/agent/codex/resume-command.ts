import { shellWord } from './shell-text.ts';

export interface CodexThread {
  readonly workspace: string;
  readonly threadId: string;
  /** The folder of the account, where the thread is kept; null: Codex's own default. */
  readonly home: string | null;
}

/** The line for a POSIX shell that opens the same thread by hand. */
export function codexResumeCommand({ workspace, threadId, home }: CodexThread): string {
  return `cd ${shellWord(workspace)} && ${withHome(home, `codex resume ${shellWord(threadId)}`)}`;
}

/** The line that logs the account in. */
export function codexLoginCommand(home: string | null): string {
  return withHome(home, 'codex login');
}

function withHome(home: string | null, command: string): string {
  return home === null ? command : `CODEX_HOME=${shellWord(home)} ${command}`;
}
