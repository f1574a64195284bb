import type { Clock } from '../../../clock/clock.ts';
import type { AgentQuestion, QuestionAnswer } from '../../../core/command/question.ts';
import type { ToolDoor } from '../../../core/tool-door.ts';
import type { SessionRequest } from '../../agent.ts';
import type { CodexAgentOptions } from '../codex-options.ts';
import { unsupportedTool } from '../fixed-texts.ts';
import type { EventTeller } from '../turn/event-teller.ts';
import type { CodexAnswer } from '../wire/connection.ts';
import { type Fields, textOf } from '../wire/fields.ts';
import type { Frame, RequestId } from '../wire/frame.ts';
import { type Approval, approvalOf } from './approval.ts';
import { elicitedAnswerOf, elicitedApprovalOf, elicitedQuestionOf } from './elicitation.ts';
import { inputAnswerOf, inputQuestionOf, toolApprovalOf } from './user-input.ts';

/** The name of Baton's own tools among the MCP servers of a thread. */
export const ownServer = 'baton';

export interface RequestDeskParts {
  readonly clock: Clock;
  readonly teller: EventTeller;
  readonly approvals: CodexAgentOptions['approvals'];
  /** Whether the server of that name is Baton's own; otherwise it is a stranger's. */
  readonly hasOwnServer: boolean;
  readonly request: Pick<SessionRequest, 'ask' | 'tools'>;
  readonly answer: (id: RequestId, answer: CodexAnswer) => void;
  /** The file change that an approval is about, as its item was told; null when it was not. */
  readonly changesOf: (itemId: string) => Fields | null;
  /** Called when something is asked and nothing was open, and when nothing is open any more. */
  readonly onOpen: () => void;
  readonly onIdle: () => void;
}

/** So many requests of one session are open at once; an agent that asks more has gone astray. */
const mostOpen = 100;

/**
 * Answers what Codex asks of its client. What must hold: every request gets exactly one answer, in the words of its
 * protocol, unless Codex took it back or its turn has ended; what Codex may do is decided by the policy of the session or
 * by a person; a question for information is never answered by Baton itself; nothing here blocks the reading.
 */
export class RequestDesk {
  readonly #parts: RequestDeskParts;
  readonly #open = new Map<string, AbortController>();
  /** What is at work for a request, also when nobody waits for it any more. */
  #atWork = 0;
  #hasToldTooMany = false;

  constructor(parts: RequestDeskParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  async handle(frame: Extract<Frame, { kind: 'request' }>): Promise<void> {
    const taken = new AbortController();
    const key = keyOf(frame.id);
    if (this.#atWork >= mostOpen) return this.#refuse(frame);
    this.#open.get(key)?.abort();
    this.#open.set(key, taken);
    if (this.#open.size === 1) this.#parts.onOpen();
    // Neither the door of the tools nor a person rejects; if one did, Codex must not wait for ever.
    this.#atWork += 1;
    const answer = await this.#decide(frame, taken.signal).catch(failure);
    this.#atWork -= 1;
    if (taken.signal.aborted) return;
    this.#parts.answer(frame.id, answer);
    this.#close(key);
  }

  /** Codex has settled a request itself. */
  takeBack(id: unknown): void {
    if (typeof id === 'number' || typeof id === 'string') this.#takeBack(keyOf(id));
  }

  /** The turn has ended, or the session: nobody waits for an answer any more. */
  takeBackAll(): void {
    for (const key of [...this.#open.keys()]) this.#takeBack(key);
  }

  #refuse({ id, whole }: Extract<Frame, { kind: 'request' }>): void {
    this.#parts.answer(id, { error: { code: -32_000, message: 'Too much is asked at once.' } });
    if (this.#hasToldTooMany) return;
    this.#hasToldTooMany = true;
    const summary = `asked more than ${mostOpen} things at once, and is refused what is beyond`;
    this.#parts.teller.tell('notification', summary, { payload: whole });
  }

  #takeBack(key: string): void {
    this.#open.get(key)?.abort();
    this.#close(key);
  }

  #close(key: string): void {
    if (this.#open.delete(key) && this.#open.size === 0) this.#parts.onIdle();
  }

  async #decide(frame: Extract<Frame, { kind: 'request' }>, signal: AbortSignal): Promise<CodexAnswer> {
    const { method, params, whole } = frame;
    const approval = approvalOf(method, params, this.#parts.changesOf(textOf(params.itemId) ?? ''));
    if (approval !== null) return this.#approve(approval, whole, signal);
    switch (method) {
      case 'item/tool/requestUserInput':
      case 'tool/requestUserInput':
        return this.#inform(frame, signal);
      case 'mcpServer/elicitation/request':
        return this.#elicit(frame, signal);
      case 'item/tool/call':
        return callTool(params, this.#parts.request.tools, this.#parts.teller, whole, signal);
      case 'currentTime/read':
        return { result: { currentTimeAt: Math.floor(this.#parts.clock.now() / 1000) } };
      default:
        this.#parts.teller.tell('notification', `asked for ${method}, which Baton does not offer`, { payload: whole });
        return { error: { code: -32_601, message: `Baton does not offer ${method}.` } };
    }
  }

  async #approve(approval: Approval, whole: Fields, signal: AbortSignal): Promise<CodexAnswer> {
    const { teller, approvals } = this.#parts;
    const { text } = approval.question;
    if (approvals === 'auto') {
      teller.tell('approval_auto_approved', `${text} (approved by policy)`, { payload: whole });
      return approval.answer('accept_for_session');
    }
    if (approvals === 'deny') {
      teller.tell('notification', `${text} (declined by policy)`, { payload: whole });
      return approval.answer('decline');
    }
    teller.tell('approval_required', text, { payload: whole });
    const answer = await this.#ask(approval.question, signal);
    return approval.answer(answer?.decision ?? 'decline');
  }

  async #inform({ params, whole }: Extract<Frame, { kind: 'request' }>, signal: AbortSignal): Promise<CodexAnswer> {
    const approval = toolApprovalOf(params);
    if (approval !== null) return this.#approve(approval, whole, signal);
    const question = inputQuestionOf(params);
    return inputAnswerOf(params, await this.#askForInput(question, whole, signal));
  }

  async #elicit({ params, whole }: Extract<Frame, { kind: 'request' }>, signal: AbortSignal): Promise<CodexAnswer> {
    const approval = elicitedApprovalOf(params);
    if (approval !== null) {
      // Baton's own tools are there to be called; whether a call is right they judge themselves.
      if (params.serverName === ownServer && this.#parts.hasOwnServer) {
        const summary = `${approval.question.text} (a tool of Baton)`;
        this.#parts.teller.tell('approval_auto_approved', summary, { payload: whole });
        return approval.answer('accept_for_session');
      }
      return this.#approve(approval, whole, signal);
    }
    const question = elicitedQuestionOf(params);
    return elicitedAnswerOf(params, question === null ? null : await this.#askForInput(question, whole, signal));
  }

  async #askForInput(question: AgentQuestion, whole: Fields, signal: AbortSignal): Promise<QuestionAnswer | null> {
    const { teller, approvals } = this.#parts;
    if (approvals === 'deny') {
      teller.tell('notification', `${question.text} (told that nobody answers)`, { payload: whole });
      return null;
    }
    teller.tell('approval_required', question.text, { payload: whole });
    return this.#ask(question, signal);
  }

  #ask(question: AgentQuestion, signal: AbortSignal): Promise<QuestionAnswer | null> {
    return this.#parts.request.ask(question, signal);
  }
}

function failure(error: unknown): CodexAnswer {
  return { error: { code: -32_603, message: error instanceof Error ? error.message : 'Baton failed to answer.' } };
}

/** `1` and `"1"` are two ids. */
const keyOf = (id: RequestId): string => `${typeof id} ${id}`;

/** Carries a call of a dynamic tool to the door of the run, and the answer back (1.10 of the reference). */
async function callTool(
  params: Fields,
  door: ToolDoor,
  teller: EventTeller,
  payload: Fields,
  signal: AbortSignal,
): Promise<CodexAnswer> {
  const name = (textOf(params.tool) ?? textOf(params.name) ?? '').trim();
  const supportedTools = door.tools.map((tool) => tool.name);
  if (!supportedTools.includes(name)) {
    teller.tell('unsupported_tool_call', `called ${name === '' ? 'a tool without a name' : name}, which is not there`, {
      payload,
    });
    return toolAnswer(false, JSON.stringify({ error: { message: unsupportedTool(name), supportedTools } }, null, 2));
  }
  const { success, output } = await door.call(name, params.arguments ?? {}, signal);
  teller.tell(success ? 'tool_call_completed' : 'tool_call_failed', `${name}: ${output}`, {
    payload: { call: payload, success, output },
  });
  return toolAnswer(success, output);
}

function toolAnswer(success: boolean, text: string): CodexAnswer {
  return { result: { success, contentItems: [{ type: 'inputText', text }] } };
}
