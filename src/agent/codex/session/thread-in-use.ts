import { BatonError } from '../../../core/baton-error.ts';
import { type Fields, textOf } from '../../wire/fields.ts';
import { codexStopServerCommand } from '../resume-command.ts';
import type { CodexRefusal } from '../wire/connection.ts';

/**
 * Whether Codex refuses to resume a thread because another Codex writes to it: a person has it open, or the shared
 * server that an earlier `codex resume` left behind keeps it. A thread has one writer, until that one ends.
 */
export function isThreadInUse(refusal: Fields): boolean {
  return /\balready has an active writer\b/i.test(textOf(refusal.message) ?? '');
}

/**
 * Not a failure of the agent, and a retry does not fix it: a person has to close the conversation. `home` is the folder
 * of the account; null means Codex's own default.
 */
export function threadInUse(refusal: CodexRefusal, home: string | null): BatonError {
  const message = [
    'The Codex conversation is still open in another process.',
    `Close it there, or stop the shared server of Codex with \`${codexStopServerCommand(home)}\`.`,
    `(Codex says: ${textOf(refusal.refusal.message)}.)`,
  ].join(' ');
  return new BatonError('agent_thread_in_use', message, {
    cause: refusal,
    details: { refusal: refusal.refusal },
    nextStep: 'Close the conversation, then run `baton issue retry`.',
  });
}
