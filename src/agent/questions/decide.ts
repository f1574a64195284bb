import type { AgentQuestion, QuestionAnswer } from '../../core/command/question.ts';
import type { SessionRequest } from '../agent.ts';
import type { EventSink } from '../wire/event-sink.ts';
import type { Approval } from './approval.ts';

/** Who decides about the requests of a session. */
export interface DecisionParts {
  readonly events: EventSink;
  readonly approvals: 'auto' | 'deny' | 'ask';
  readonly request: Pick<SessionRequest, 'ask' | 'isReadOnly'>;
  /** Tells the agent why its request was declined, in its turn, where the answer to the request has no place for it. */
  readonly tellAgent: (text: string) => void;
}

const seenWhole = 'A person must see the whole request. Send a shorter one, or continue without it.';

/**
 * The answer to a request for permission: by the policy of the session, or by a person who sees all of it. Neither widens a
 * session that only reads.
 */
export async function decideApproval<Answer>(
  { events, approvals, request, tellAgent }: DecisionParts,
  approval: Approval<Answer>,
  payload: unknown,
  signal: AbortSignal,
): Promise<Answer> {
  const { text } = approval.question;
  if (request.isReadOnly && !approval.isRead) {
    events.emit('notification', `${text} (declined: the session is read-only)`, { payload });
    tellAgent('Baton declined your request: this session only reads its workspace. Continue without it.');
    return approval.answer('decline');
  }
  if (approvals === 'auto') {
    events.emit('approval_auto_approved', `${text} (approved by policy)`, { payload });
    return approval.answer('accept_for_session');
  }
  if (approvals === 'deny') {
    events.emit('notification', `${text} (declined by policy)`, { payload });
    return approval.answer('decline');
  }
  if (approval.unseen !== null) {
    const declined = `${text} (declined: ${approval.unseen})`;
    events.emit('notification', declined, { payload });
    tellAgent(`Baton declined your request: ${approval.unseen}. ${seenWhole}`);
    return approval.answer('decline');
  }
  events.emit('approval_required', text, { payload });
  const answer = await request.ask(approval.question, signal);
  return approval.answer(answer?.decision ?? 'decline');
}

/** A person's answer to a question for information; Baton never answers one itself. Null: no one will answer. */
export async function askForInput(
  { events, approvals, request }: Omit<DecisionParts, 'tellAgent'>,
  question: AgentQuestion,
  payload: unknown,
  signal: AbortSignal,
): Promise<QuestionAnswer | null> {
  if (approvals === 'deny') {
    events.emit('notification', `${question.text} (answered that no one is available)`, { payload });
    return null;
  }
  events.emit('approval_required', question.text, { payload });
  return request.ask(question, signal);
}
