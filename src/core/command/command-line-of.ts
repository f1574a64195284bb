import { askCommand, copyable, handbackCommand, retryCommand } from './retry-command.ts';

interface About {
  readonly identifier: string | null;
  readonly questionId: string | null;
}

/**
 * The shell command with which a person sends a command, ready to be copied from a message; null where there is none,
 * or where it needs the person's own words. An answer needs those too, so its command shows the question and the
 * commands that answer it.
 */
export function commandLineOf(kind: string, { identifier, questionId }: About): string | null {
  if (kind === 'question_answer') {
    const question = questionId ?? identifier;
    return question === null ? null : askCommand(question);
  }
  if (kind === 'pause' || kind === 'resume' || kind === 'drain' || kind === 'reload') return `baton ${kind}`;
  if (identifier === null) return null;
  if (kind === 'issue_retry') return retryCommand(identifier);
  if (kind === 'issue_handback') return handbackCommand(identifier);
  if (kind === 'issue_takeover') return `baton takeover ${copyable(identifier)}`;
  if (kind === 'issue_hold' || kind === 'issue_release' || kind === 'issue_stop') {
    return `baton issue ${kind.slice('issue_'.length)} ${copyable(identifier)}`;
  }
  return null;
}
