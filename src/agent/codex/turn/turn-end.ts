import { BatonError } from '../../../core/baton-error.ts';
import type { TurnResult } from '../../agent.ts';
import { oneLine } from '../../questions/approval.ts';
import { type Fields, fieldsOf, firstOf, isFields, listOf, textOf } from '../../wire/fields.ts';
import { codexError, type ErrorSurroundings } from './codex-error.ts';

/** The longest last message that is passed on; it is compared and shown, not stored. */
const longestMessage = 65_536;

/**
 * How a turn ended, judged by its status and never only by the name of the notification (X4): Codex reports failures
 * and interruptions as `turn/completed` too. Null when the frame does not end a turn.
 */
export function turnEndOf(
  method: string,
  params: Fields,
  lastMessage: string | null,
  surroundings: ErrorSurroundings,
  whole: Fields,
): TurnResult | null {
  const turn = fieldsOf(params.turn);
  const error = firstOf(turn, 'error') ?? firstOf(params, 'error') ?? textOf(params.message);
  switch (method) {
    case 'turn/completed': {
      const status = statusOf(params, whole);
      if (status === 'failed') return { status: 'failed', error: codexError(error, surroundings) };
      if (status === 'interrupted' || status === 'cancelled') return interrupted();
      // Older versions report no status; an error without one is still a failure.
      if (status !== 'completed' && error !== null && error !== undefined) {
        return { status: 'failed', error: codexError(error, surroundings) };
      }
      if (status !== 'completed' && status !== null) return unknownStatus(status);
      return completed(lastMessage ?? messageIn(turn));
    }
    case 'turn/failed':
      return { status: 'failed', error: codexError(error ?? params, surroundings) };
    case 'turn/cancelled':
      return interrupted();
    default:
      return null;
  }
}

/**
 * The status of a turn that has ended; null where the frame has none, as in older versions. A status that is present
 * but unreadable does not mean success.
 */
function statusOf(params: Fields, whole: Fields): string | null {
  if ([whole.params, params.turn].some((part) => part !== undefined && !isFields(part))) return 'unreadable';
  const ofTurn = fieldsOf(params.turn).status;
  const status = ofTurn === undefined ? params.status : ofTurn;
  if (status === undefined) return null;
  return textOf(status) ?? textOf(fieldsOf(status).type) ?? 'unreadable';
}

function completed(message: string | null): TurnResult {
  return message === null || message === ''
    ? { status: 'completed' }
    : { status: 'completed', message: message.slice(0, longestMessage) };
}

/** Baton did not ask for it: otherwise the result would be `cancelled`, whatever Codex reports. */
function interrupted(): TurnResult {
  return { status: 'failed', error: new BatonError('agent_turn_failed', 'Codex interrupted the turn by itself.') };
}

function unknownStatus(status: string): TurnResult {
  const message = `Codex ended the turn with the unknown status ${JSON.stringify(status)}.`;
  return { status: 'failed', error: new BatonError('agent_turn_failed', message) };
}

/** Why no turn can begin: Codex would add its prompt to the turn that still runs. */
export function turnNotEnded(): BatonError {
  const message = 'Codex did not end an interrupted turn, so it cannot start another one.';
  return new BatonError('agent_protocol_error', message);
}

function messageIn(turn: Fields): string | null {
  const messages = listOf(turn.items)
    .map(fieldsOf)
    .filter(({ type }) => type === 'agentMessage');
  return textOf(messages.at(-1)?.text);
}

const asking: ReadonlySet<string> = new Set([
  ...['turn/input_required', 'turn/needs_input', 'turn/need_input', 'turn/request_input', 'turn/request_response'],
  ...['turn/provide_input', 'turn/approval_required'],
]);

/**
 * The question of the agent, when a frame says that its turn cannot continue without a person (1.9 of the reference).
 * Null when the frame does not say so. A question without an id cannot be answered, so it counts as one of these too.
 */
export function neededInput(method: string, params: Fields, whole: Fields, hasId: boolean): string | null {
  const isQuestion = method === 'mcpServer/elicitation/request' || method.endsWith('tool/requestUserInput');
  const says = asking.has(method) || (method.startsWith('turn/') && [params, whole].some(needsInput));
  if (!says && !(isQuestion && !hasId)) return null;
  const first = fieldsOf(listOf(params.questions)[0]);
  const words = firstOf(params, 'question', 'message', 'prompt', 'reason') ?? first.question;
  return oneLine(textOf(words) ?? 'Codex needs input to continue, but did not say what.');
}

function needsInput(fields: Fields): boolean {
  const { requiresInput, needsInput, input_required, inputRequired, type } = fields;
  const says = [requiresInput, needsInput, input_required, inputRequired].includes(true);
  return says || type === 'input_required' || type === 'needs_input';
}
