import { askForInput, type DecisionParts, decideApproval } from '../../questions/decide.ts';
import { elicitedContent, elicitedQuestion } from '../../questions/elicitation.ts';
import { mostOpen, OpenRequests } from '../../questions/open-requests.ts';
import { type Fields, fieldsOf, shown, textOf } from '../../wire/fields.ts';
import type { ControlAnswer } from '../wire/connection.ts';
import { permissionOf } from './permission.ts';
import { questionTool, userAnswerOf, userQuestionOf } from './user-question.ts';

export interface RequestHandlerParts extends Omit<DecisionParts, 'tellAgent'> {
  readonly answer: (requestId: string, answer: ControlAnswer) => void;
  /** Called when the first request opens, and when the last open request is settled. */
  readonly onOpen: () => void;
  readonly onIdle: () => void;
}

/**
 * Answers the control requests of Claude Code to its client. What must hold: every request gets exactly one answer,
 * unless Claude Code withdrew it or its turn has ended; the policy of the session or a person decides what Claude may
 * do; Baton never answers a question for information itself; nothing here blocks the reading.
 */
export class RequestHandler {
  readonly #parts: RequestHandlerParts;
  readonly #open: OpenRequests;

  constructor(parts: RequestHandlerParts) {
    this.#parts = parts;
    this.#open = new OpenRequests(parts.onOpen, parts.onIdle);
  }

  get isOpen(): boolean {
    return this.#open.isOpen;
  }

  async handle(message: Fields): Promise<void> {
    const id = shown(message.request_id);
    const refuse = (error: string): void => this.#parts.answer(id, { error });
    if (this.#open.isFull) return refuse(`More than ${mostOpen} requests are open at once.`);
    // No question to a person rejects; if one did, Claude Code must not wait forever.
    const decide = (signal: AbortSignal): Promise<ControlAnswer> =>
      this.#decide(fieldsOf(message.request), message, signal).catch((error: unknown) => ({ error: String(error) }));
    await this.#open.take(id, decide, (answer) => this.#parts.answer(id, answer));
  }

  /** Claude Code no longer waits for the answer to a request. */
  withdraw(message: Fields): void {
    this.#open.withdraw(shown(message.request_id));
  }

  withdrawAll(): void {
    this.#open.withdrawAll();
  }

  async #decide(request: Fields, whole: Fields, signal: AbortSignal): Promise<ControlAnswer> {
    switch (request.subtype) {
      case 'can_use_tool':
        return request.tool_name === questionTool
          ? this.#inform(request, whole, signal)
          : this.#permit(request, whole, signal);
      case 'elicitation':
        return this.#elicit(request, whole, signal);
      // Baton registers no hooks; one of another client lets the work continue.
      case 'hook_callback':
        return { response: {} };
      default: {
        const what = shown(request.subtype);
        this.#parts.events.emit('notification', `requested ${what}, which Baton does not support`, { payload: whole });
        return { error: `Baton does not support ${what}.` };
      }
    }
  }

  #permit(request: Fields, whole: Fields, signal: AbortSignal): Promise<ControlAnswer> {
    let reason: string | null = null;
    const tellAgent = (text: string): void => {
      reason = text;
    };
    return decideApproval(
      { ...this.#parts, tellAgent },
      permissionOf(request, () => reason),
      whole,
      signal,
    );
  }

  async #inform(request: Fields, whole: Fields, signal: AbortSignal): Promise<ControlAnswer> {
    const input = fieldsOf(request.input);
    return userAnswerOf(input, await askForInput(this.#parts, userQuestionOf(input), whole, signal));
  }

  async #elicit(request: Fields, whole: Fields, signal: AbortSignal): Promise<ControlAnswer> {
    const params = { ...request, requestedSchema: request.requested_schema };
    const question = elicitedQuestion(textOf(request.mcp_server_name), params);
    const content = elicitedContent(params, await askForInput(this.#parts, question, whole, signal));
    if (content === 'declined') return { response: { action: 'decline' } };
    return { response: content === null ? { action: 'accept' } : { action: 'accept', content } };
  }
}
