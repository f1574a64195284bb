import type { Clock } from '../../../clock/clock.ts';
import type { ToolSet } from '../../../core/tool-set.ts';
import type { SessionRequest } from '../../agent.ts';
import { askForInput, type DecisionParts, decideApproval } from '../../questions/decide.ts';
import { mostOpen, OpenRequests } from '../../questions/open-requests.ts';
import type { EventSink } from '../../wire/event-sink.ts';
import { type Fields, textOf } from '../../wire/fields.ts';
import { unsupportedTool } from '../fixed-texts.ts';
import type { CodexAnswer } from '../wire/connection.ts';
import type { Frame, RequestId } from '../wire/frame.ts';
import { approvalOf } from './approval.ts';
import { elicitedAnswerOf, elicitedApprovalOf, elicitedQuestionOf } from './elicitation.ts';
import { inputAnswerOf, inputQuestionOf, toolApprovalOf } from './user-input.ts';

/** The name of Baton's own tools among the MCP servers of a thread. */
export const ownServer = 'baton';

export interface RequestHandlerParts extends DecisionParts {
  readonly clock: Clock;
  /** Whether the server of that name is Baton's own. Otherwise it is a foreign server with the same name. */
  readonly hasOwnServer: boolean;
  readonly request: Pick<SessionRequest, 'ask' | 'tools' | 'isReadOnly'>;
  readonly answer: (id: RequestId, answer: CodexAnswer) => void;
  /** The file change that an approval is about, from its item; null when Codex did not report that item. */
  readonly changesOf: (itemId: string) => Fields | null;
  /** Called when the first request opens, and when the last open request is settled. */
  readonly onOpen: () => void;
  readonly onIdle: () => void;
}

/**
 * Answers the requests of Codex to its client. What must hold: every request gets exactly one answer, in the form of
 * its protocol, unless Codex withdrew it or its turn has ended; the policy of the session or a person decides what
 * Codex may do; Baton never answers a question for information itself; nothing here blocks the reading.
 */
export class RequestHandler {
  readonly #parts: RequestHandlerParts;
  readonly #open: OpenRequests;
  #hasToldTooMany = false;

  constructor(parts: RequestHandlerParts) {
    this.#parts = parts;
    this.#open = new OpenRequests(parts.onOpen, parts.onIdle);
  }

  get isOpen(): boolean {
    return this.#open.isOpen;
  }

  async handle(frame: Extract<Frame, { kind: 'request' }>): Promise<void> {
    if (this.#open.isFull) return this.#refuse(frame);
    // Neither a tool call nor a question to a person rejects; if one did, Codex must not wait forever.
    const decide = (signal: AbortSignal): Promise<CodexAnswer> => this.#decide(frame, signal).catch(failure);
    await this.#open.take(keyOf(frame.id), decide, (answer) => this.#parts.answer(frame.id, answer));
  }

  /** Codex has settled a request itself. */
  withdraw(id: unknown): void {
    if (typeof id === 'number' || typeof id === 'string') this.#open.withdraw(keyOf(id));
  }

  /** The turn or the session has ended, so Codex no longer waits for any answer. */
  withdrawAll(): void {
    this.#open.withdrawAll();
  }

  #refuse({ id, whole }: Extract<Frame, { kind: 'request' }>): void {
    this.#parts.answer(id, { error: { code: -32_000, message: `More than ${mostOpen} requests are open at once.` } });
    if (this.#hasToldTooMany) return;
    this.#hasToldTooMany = true;
    const summary = `has more than ${mostOpen} open requests; Baton refuses the rest`;
    this.#parts.events.emit('notification', summary, { payload: whole });
  }

  async #decide(frame: Extract<Frame, { kind: 'request' }>, signal: AbortSignal): Promise<CodexAnswer> {
    const { method, params, whole } = frame;
    const approval = approvalOf(method, params, this.#parts.changesOf(textOf(params.itemId) ?? ''));
    if (approval !== null) return decideApproval(this.#parts, approval, whole, signal);
    switch (method) {
      case 'item/tool/requestUserInput':
      case 'tool/requestUserInput':
        return this.#inform(frame, signal);
      case 'mcpServer/elicitation/request':
        return this.#elicit(frame, signal);
      case 'item/tool/call':
        return callTool(params, this.#parts.request.tools, this.#parts.events, whole, signal);
      case 'currentTime/read':
        return { result: { currentTimeAt: Math.floor(this.#parts.clock.now() / 1000) } };
      default:
        this.#parts.events.emit('notification', `requested ${method}, which Baton does not support`, {
          payload: whole,
        });
        return { error: { code: -32_601, message: `Baton does not support ${method}.` } };
    }
  }

  async #inform(frame: Extract<Frame, { kind: 'request' }>, signal: AbortSignal): Promise<CodexAnswer> {
    const { method, params, whole } = frame;
    const approval = toolApprovalOf(method, params);
    if (approval !== null) return decideApproval(this.#parts, approval, whole, signal);
    const question = inputQuestionOf(params);
    return inputAnswerOf(params, await askForInput(this.#parts, question, whole, signal));
  }

  async #elicit(frame: Extract<Frame, { kind: 'request' }>, signal: AbortSignal): Promise<CodexAnswer> {
    const { method, params, whole } = frame;
    const approval = elicitedApprovalOf(method, params);
    if (approval !== null) {
      // Calls of Baton's own tools need no approval: the tools check each call themselves.
      if (params.serverName === ownServer && this.#parts.hasOwnServer) {
        const summary = `${approval.question.text} (a tool of Baton)`;
        this.#parts.events.emit('approval_auto_approved', summary, { payload: whole });
        return approval.answer('accept_for_session');
      }
      return decideApproval(this.#parts, approval, whole, signal);
    }
    const question = elicitedQuestionOf(params);
    return elicitedAnswerOf(params, question === null ? null : await askForInput(this.#parts, question, whole, signal));
  }
}

function failure(error: unknown): CodexAnswer {
  return { error: { code: -32_603, message: error instanceof Error ? error.message : 'Baton failed to answer.' } };
}

/** `1` and `"1"` are different ids. */
const keyOf = (id: RequestId): string => `${typeof id} ${id}`;

/** Passes a call of a dynamic tool to the tool set of the run, and the answer back (1.10 of the reference). */
async function callTool(
  params: Fields,
  door: ToolSet,
  events: EventSink,
  payload: Fields,
  signal: AbortSignal,
): Promise<CodexAnswer> {
  const name = (textOf(params.tool) ?? textOf(params.name) ?? '').trim();
  const supportedTools = door.tools.map((tool) => tool.name);
  if (!supportedTools.includes(name)) {
    events.emit(
      'unsupported_tool_call',
      `called ${name === '' ? 'a tool without a name' : name}, which does not exist`,
      {
        payload,
      },
    );
    return toolAnswer(false, JSON.stringify({ error: { message: unsupportedTool(name), supportedTools } }, null, 2));
  }
  const { success, output } = await door.call(name, params.arguments ?? {}, signal);
  events.emit(success ? 'tool_call_completed' : 'tool_call_failed', `${name}: ${output}`, {
    payload: { call: payload, success, output },
  });
  return toolAnswer(success, output);
}

function toolAnswer(success: boolean, text: string): CodexAnswer {
  return { result: { success, contentItems: [{ type: 'inputText', text }] } };
}
