import { toBatonError } from '../../core/baton-error.ts';
import type { CommandAnswer } from '../../core/command/command-answers.ts';
import type { MessageKind } from '../../core/command/message.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { BaseParts } from '../parts.ts';

interface Words {
  readonly kind: MessageKind;
  /** Null: the command has none. */
  readonly body: string | null;
}

/**
 * Carries out a command that has words for the next agent. They are stored before the command takes effect, because it
 * may start a run at once, and removed when it is refused: then its sender knows that they did not arrive. The id of
 * the command is that of the message, so a repeated command leaves them once.
 */
export async function withMessage(
  { store, project }: Pick<BaseParts, 'store' | 'project'>,
  issueId: string,
  { id, at, author }: Command,
  { kind, body }: Words,
  act: () => Promise<CommandAnswer>,
): Promise<CommandAnswer> {
  if (body === null) return act();
  await store.messages.leave({ project, issueId }, { id, at, author, kind, body });
  try {
    const answer = await act();
    if (answer.status === 'refused') await store.messages.takeBack(id);
    return answer;
  } catch (thrown) {
    // A command that has to wait comes again, and its words wait with it.
    if (!toBatonError(thrown).retryable) await store.messages.takeBack(id);
    throw thrown;
  }
}
