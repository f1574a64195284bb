import type { SessionRequest } from '../../agent.ts';
import type { AgentParts } from '../../launch-agent.ts';
import { askForInput, type DecisionParts, decideApproval } from '../../questions/decide.ts';
import { elicitedContent, elicitedQuestion } from '../../questions/elicitation.ts';
import { mostOpen, OpenRequests } from '../../questions/open-requests.ts';
import type { Fields } from '../../wire/fields.ts';
import { Refused, unknownMethod } from '../wire/connection.ts';
import { readTextFile, writeTextFile } from './files.ts';
import { noDecision, type PermissionAnswer, permissionOf } from './permission.ts';
import { Terminals } from './terminals.ts';

export interface RequestHandlerParts extends Omit<DecisionParts, 'tellAgent' | 'request'> {
  readonly request: SessionRequest;
  readonly parts: AgentParts;
  /** Called when the first question opens, and when the last open question is settled. */
  readonly onOpen: () => void;
  readonly onIdle: () => void;
  /** A command of the agent wrote something. */
  readonly onOutput: () => void;
  /** A turn runs that a person's answer can be for. */
  readonly hasTurn: () => boolean;
}

/** Requests that a person allowed for the session. */
const mostAllowed = 1_000;

/**
 * Answers the requests of the agent to its client. What must hold: every request gets exactly one answer, also after
 * its turn was cancelled; the policy of the session or a person decides what the agent may do; Baton never answers a
 * question for information itself; files and commands stay inside the workspace and the git directory; in a read-only
 * session Baton writes no file and runs no command for the agent.
 */
export class RequestHandler {
  readonly terminals: Terminals;
  readonly #parts: RequestHandlerParts;
  readonly #open: OpenRequests;
  readonly #roots: readonly string[];
  /** By their hash: Baton keeps a yes for the session itself. */
  readonly #allowed = new Set<string>();
  #atWork = 0;
  #lastKey = 0;

  constructor(parts: RequestHandlerParts) {
    const { request, parts: agent, onOutput } = parts;
    this.#parts = parts;
    this.#open = new OpenRequests(parts.onOpen, parts.onIdle);
    this.#roots = [request.workspace, ...request.writableRoots];
    this.terminals = new Terminals({ request, parts: agent, roots: this.#roots, onOutput });
  }

  async handle(method: string, params: Fields, signal: AbortSignal): Promise<object> {
    if (this.#atWork >= mostOpen) throw new Refused(`More than ${mostOpen} requests are open at once.`);
    this.#atWork += 1;
    try {
      return await this.#answer(method, params, signal);
    } finally {
      this.#atWork -= 1;
    }
  }

  withdrawAll(): void {
    this.#open.withdrawAll();
  }

  #answer(method: string, params: Fields, signal: AbortSignal): Promise<object> {
    const { terminals } = this;
    if (this.#parts.request.isReadOnly && (method === 'fs/write_text_file' || method === 'terminal/create'))
      return Promise.reject(new Refused('This session only reads its workspace.'));
    switch (method) {
      case 'session/request_permission':
        return this.#ask<PermissionAnswer>(signal, noDecision, (asked) => this.#permit(params, asked));
      case 'elicitation/create':
        return this.#ask<object>(signal, { action: 'cancel' }, (asked) => this.#elicit(params, asked));
      case 'fs/read_text_file':
        return readTextFile(this.#roots, params);
      case 'fs/write_text_file':
        return writeTextFile(this.#roots, params);
      case 'terminal/create':
        return terminals.create(params);
      case 'terminal/output':
        return terminals.output(params);
      case 'terminal/wait_for_exit':
        return terminals.waitForExit(params);
      case 'terminal/kill':
        return terminals.kill(params);
      case 'terminal/release':
        return terminals.release(params);
      default:
        this.#parts.events.emit('notification', `requested ${method}, which Baton does not support`);
        return Promise.reject(new Refused(`Baton does not support ${method}.`, unknownMethod));
    }
  }

  /** Asks a person or the policy; `withdrawn` is the answer when the turn ends before, or has ended. */
  async #ask<Answer>(
    signal: AbortSignal,
    withdrawn: Answer,
    decide: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    if (!this.#parts.hasTurn()) return withdrawn;
    this.#lastKey += 1;
    const key = String(this.#lastKey);
    const withdraw = (): void => this.#open.withdraw(key);
    signal.addEventListener('abort', withdraw, { once: true });
    let answer = withdrawn;
    // No question to a person rejects; if one did, the agent must not wait forever.
    const decided = (asked: AbortSignal): Promise<Answer> => decide(asked).catch(() => withdrawn);
    await this.#open.take(key, decided, (made) => {
      answer = made;
    });
    signal.removeEventListener('abort', withdraw);
    return answer;
  }

  #permit(params: Fields, signal: AbortSignal): Promise<PermissionAnswer> {
    const approval = permissionOf(params);
    const hash = approval.question.requestHash ?? '';
    if (this.#allowed.has(hash)) return Promise.resolve(approval.answer('accept'));
    // The answer has no place for a reason; the agent sees a no.
    const tellAgent = (): void => {};
    const answer: typeof approval.answer = (decision) => {
      if (decision === 'accept_for_session' && this.#allowed.size < mostAllowed) this.#allowed.add(hash);
      return approval.answer(decision);
    };
    return decideApproval({ ...this.#parts, tellAgent }, { ...approval, answer }, { params }, signal);
  }

  async #elicit(params: Fields, signal: AbortSignal): Promise<object> {
    const question = elicitedQuestion(null, params);
    const content = elicitedContent(params, await askForInput(this.#parts, question, { params }, signal));
    if (content === 'declined') return { action: 'decline' };
    return content === null ? { action: 'accept' } : { action: 'accept', content };
  }
}
