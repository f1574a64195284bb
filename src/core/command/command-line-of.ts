import { askCommand, copyable, handbackCommand, retryCommand } from './retry-command.ts';

interface About {
  readonly identifier: string | null;
  readonly questionId: string | null;
}

/**
 * The command line by which a person gives a command, to be copied from a message as it stands; null where there is none,
 * or where it needs their own words. An answer needs them too: the line shows the question, with the lines that answer it.
 */
export function commandLineOf(kind: string, { identifier, questionId }: About): string | null {
  if (kind === 'question_answer') {
    const question = questionId ?? identifier;
    return question === null ? null : askCommand(question);
  }
  if (kind === 'pause' || kind === 'resume' || kind === 'drain') return `baton ${kind}`;
  if (identifier === null) return null;
  if (kind === 'issue_retry') return retryCommand(identifier);
  if (kind === 'issue_handback') return handbackCommand(identifier);
  if (kind === 'issue_takeover') return `baton takeover ${copyable(identifier)}`;
  if (kind === 'issue_hold' || kind === 'issue_release' || kind === 'issue_stop') {
    return `baton issue ${kind.slice('issue_'.length)} ${copyable(identifier)}`;
  }
  return null;
}
