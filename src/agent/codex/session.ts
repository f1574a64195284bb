import { timedOut, within } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { LiveProcess } from '../../process/live-process.ts';
import type { AgentSession, SessionRequest, TurnResult } from '../agent.ts';
import { type AgentParts, endAgent } from '../launch-agent.ts';
import type { CodexAgentOptions } from './codex-agent.ts';
import { codexError } from './codex-error.ts';
import { CodexConnection, CodexRefusal } from './connection.ts';
import { EventTeller } from './event-teller.ts';
import { type Fields, isFields, textOf } from './fields.ts';
import type { Frame } from './frame.ts';
import { LiveTurn } from './live-turn.ts';
import { openThread } from './open-thread.ts';
import { FrameReporter } from './report-frames.ts';
import { ownServer, RequestDesk } from './request-desk.ts';
import * as say from './session-params.ts';
import { neededInput, tellTurnEnd, turnEndOf } from './turn-end.ts';

/** How long an interrupted turn, and the commands that it left running, have to end before the process itself is ended. */
const interruptMs = 3_000;
/** Making a thread shorter is one call of the model, so a matter of minutes at most. */
const compactMs = 300_000;

/**
 * One app-server on one workspace. Two things live side by side: the turn that somebody waits for (`#awaited`), and the
 * turn that Codex is at (`#running`), which goes on when the first was given up, fell silent or needs a person. No turn
 * begins while another runs: Codex would take its prompt as a word to the old one.
 */
export class CodexSession implements AgentSession {
  readonly remembersTurns = true;
  readonly pid: number;
  threadId: string | null = null;
  isResumed = false;
  readonly #process: LiveProcess;
  readonly #request: SessionRequest;
  readonly #options: CodexAgentOptions;
  readonly #parts: AgentParts;
  readonly #teller: EventTeller;
  readonly #reporter: FrameReporter;
  readonly #desk: RequestDesk;
  readonly #connection: CodexConnection;
  readonly #pastTurns = new Set<string>();
  #awaited: LiveTurn | null = null;
  #running: LiveTurn | null = null;
  #compaction: LiveTurn | null = null;
  #stopping: Promise<void> | null = null;

  constructor(process: LiveProcess, request: SessionRequest, options: CodexAgentOptions, parts: AgentParts) {
    this.pid = process.pid;
    this.#process = process;
    this.#request = request;
    this.#options = options;
    this.#parts = parts;
    this.#teller = new EventTeller(parts.clock, process.pid, request.onEvent);
    this.#reporter = new FrameReporter(parts.clock, this.#teller);
    this.#desk = new RequestDesk({
      clock: parts.clock,
      teller: this.#teller,
      approvals: options.approvals,
      request,
      answer: (id, answer) => this.#connection.answer(id, answer),
      changesOf: (itemId) => this.#reporter.changesOf(itemId),
      onOpen: () => this.#running?.hold('request'),
      onIdle: () => this.#running?.release('request'),
    });
    this.#connection = new CodexConnection(process, parts, {
      onSound: () => this.#running?.touch(),
      onFrame: (frame) => this.#hear(frame),
      onGarbage: (line) => this.#teller.tell(line.trimStart().startsWith('{') ? 'malformed' : 'other_message', line),
      onEnd: (error) => this.#lose(error),
    });
  }

  /** Brings the session to where a turn can begin. */
  async begin(): Promise<void> {
    const { signal } = this.#request;
    const { readTimeoutMs } = this.#options;
    try {
      await this.#connection.request('initialize', say.initializeParams(this.#options), readTimeoutMs, signal);
      this.#connection.notifyInitialized();
      const { thread, isResumed } = await openThread({
        connection: this.#connection,
        options: this.#options,
        request: this.#request,
        reporter: this.#reporter,
        teller: this.#teller,
        hidesSecrets: this.#parts.denyEnv.length > 0,
      });
      const threadId = say.idIn(thread, 'thread');
      if (threadId === null) throw new BatonError('agent_protocol_error', 'Codex named no thread in its answer.');
      this.threadId = threadId;
      this.isResumed = isResumed;
      this.#reporter.meter.model = textOf(thread.model);
      const how = isResumed ? 'goes on with' : 'begins';
      const payload = { threadId, model: thread.model, isResumed };
      this.#teller.open('session_started', `Codex ${how} thread ${threadId}`, { payload });
      if (isResumed && this.#request.recovery?.compact === true) await this.#compact(threadId);
    } catch (error) {
      this.#teller.open('startup_failed', error instanceof Error ? error.message : 'the session did not start');
      throw error;
    }
  }

  async runTurn(prompt: string, signal?: AbortSignal): Promise<TurnResult> {
    if (this.#running !== null) await this.#interrupt(this.#running);
    if (this.#stopping !== null || signal?.aborted || this.threadId === null) return { status: 'cancelled' };
    if (this.#connection.ended !== null) return { status: 'failed', error: this.#connection.ended };
    const turn = this.#openTurn();
    this.#teller.tell('turn_started', 'turn started');
    const params = say.turnStartParams(this.#options, this.#request, this.threadId, prompt);
    this.#connection.request('turn/start', params, this.#options.readTimeoutMs).then(
      (answer) => this.#begun(turn, say.idIn(answer, 'turn')),
      (error: unknown) => this.#refused(turn, error),
    );
    return this.#await(turn, signal);
  }

  async steer(text: string): Promise<boolean> {
    const turn = this.#awaited;
    const { threadId } = this;
    if (turn === null || threadId === null) return false;
    const id = await within(this.#parts.clock, this.#options.readTimeoutMs, turn.begun);
    if (id === timedOut || id === null || turn.isSettled) return false;
    const params = { threadId, expectedTurnId: id, input: say.textInput(text) };
    try {
      await this.#connection.request('turn/steer', params, this.#options.readTimeoutMs);
      return true;
    } catch (error) {
      // It ended meanwhile: then there was nobody to hear it.
      if (turn.isSettled || (error instanceof CodexRefusal && /active turn/.test(error.message))) return false;
      throw this.#errorOf(error);
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#awaited?.giveUp();
    this.#desk.takeBackAll();
    if (this.#running !== null) await this.#interrupt(this.#running);
    else await within(this.#parts.clock, interruptMs, this.#cleanTerminals());
    this.#awaited?.settle({ status: 'cancelled' });
    try {
      await endAgent(this.#process);
      await this.#connection.reading;
    } finally {
      this.#reporter.endTurn();
      this.#teller.close();
    }
  }

  /** Makes the thread shorter. When that fails, it goes on as it is: the next failure takes the next step. */
  async #compact(threadId: string): Promise<void> {
    this.#request.signal?.throwIfAborted();
    const turn = this.#openTurn(() => {});
    this.#compaction = turn;
    this.#connection
      .request('thread/compact/start', { threadId }, this.#options.readTimeoutMs)
      .catch((error: unknown) => this.#refused(turn, error));
    const result = await within(this.#parts.clock, compactMs, this.#await(turn, this.#request.signal));
    this.#request.signal?.throwIfAborted();
    if (result !== timedOut && result.status === 'completed') return;
    const why = result !== timedOut && result.status === 'failed' ? result.error.message : 'it took too long';
    this.#teller.tell('notification', `the thread could not be made shorter: ${why}`);
    if (this.#running === turn) await this.#interrupt(turn);
  }

  #openTurn(onSettled?: (result: TurnResult) => void): LiveTurn {
    const tell = (result: TurnResult, payload: unknown): void => tellTurnEnd(this.#teller, result, payload);
    const turn = new LiveTurn(this.#parts.clock, this.#options.turnTimeoutMs, onSettled ?? tell);
    this.#awaited = turn;
    this.#running = turn;
    if (this.#desk.isOpen) turn.hold('request');
    return turn;
  }

  async #await(turn: LiveTurn, signal: AbortSignal | undefined): Promise<TurnResult> {
    const onAbort = (): void => {
      turn.giveUp();
      this.#desk.takeBackAll();
      void this.#interrupt(turn).then(() => turn.settle({ status: 'cancelled' }));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await turn.result;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      if (this.#awaited === turn) this.#awaited = null;
    }
  }

  /** Ends a turn in Codex, and the commands that it left running. What does not end in time is for `stop`. */
  async #interrupt(turn: LiveTurn): Promise<void> {
    const { threadId } = this;
    const end = async (): Promise<void> => {
      const turnId = await turn.begun;
      if (this.#running !== turn || turnId === null || threadId === null) return;
      await this.#connection.request('turn/interrupt', { threadId, turnId }, interruptMs);
      await turn.over;
    };
    const work = end()
      .catch(() => {})
      .then(() => this.#cleanTerminals());
    await within(this.#parts.clock, interruptMs, work);
    if (this.#running === turn) this.#running = null;
  }

  async #cleanTerminals(): Promise<void> {
    const { threadId } = this;
    if (threadId === null || this.#connection.ended !== null) return;
    // An older Codex does not know it; then the end of the process has to do.
    await this.#connection.request('thread/backgroundTerminals/clean', { threadId }, interruptMs).catch(() => {});
  }

  #begun(turn: LiveTurn, id: string | null): void {
    turn.begin(id);
    this.#reporter.meter.beginTurn(id);
  }

  #refused(turn: LiveTurn, error: unknown): void {
    // After a silence it may be running all the same.
    if (error instanceof CodexRefusal) this.#over(turn);
    turn.settle({ status: 'failed', error: this.#errorOf(error) });
  }

  #over(turn: LiveTurn): void {
    if (this.#running === turn) this.#running = null;
    turn.end();
  }

  #errorOf(error: unknown): BatonError {
    if (error instanceof BatonError) return error;
    return codexError(error instanceof CodexRefusal ? error.refusal : error, this.#surroundings());
  }

  #surroundings(): Parameters<typeof codexError>[1] {
    const home = this.#parts.accountEnv.CODEX_HOME ?? null;
    return { windows: this.#reporter.windows, now: this.#parts.clock.now(), home };
  }

  #hear(frame: Exclude<Frame, { kind: 'answer' }>): void {
    if (frame.kind === 'other') {
      this.#teller.tell('other_message', 'a message without a method', { payload: frame.whole });
      return;
    }
    const { method, params, whole } = frame;
    const needed = neededInput(method, params, whole, frame.kind === 'request');
    const isTold = needed !== null && this.#awaited !== null;
    if (needed !== null) this.#awaited?.settle({ status: 'input_required', question: needed }, whole);
    if (frame.kind === 'request') void this.#desk.handle(frame);
    else this.#follow(method, params, whole, isTold);
  }

  #follow(method: string, params: Fields, whole: Fields, isTold: boolean): void {
    const isOwn = this.threadId === null || (textOf(params.threadId) ?? this.threadId) === this.threadId;
    const turnId = say.idIn(params, 'turn') ?? textOf(params.turnId);
    if (method === 'serverRequest/resolved') this.#desk.takeBack(params.requestId);
    const turn = isOwn ? this.#running : null;
    const isAbout = turn?.isNamed(turnId, this.#pastTurns) ?? false;
    if (turn !== null && isAbout && method === 'turn/started') this.#begun(turn, turnId);
    if (!isTold) this.#reporter.report(method, params, whole);
    if (turn !== null && isFields(params.item)) followItem(turn, method, params.item);
    if (turn === null || !isAbout) return;
    const result = this.#isCompacted(turn, method)
      ? { status: 'completed' as const }
      : turnEndOf(method, params, turn.lastMessage, this.#surroundings());
    if (result === null) return;
    if (turnId !== null) this.#pastTurns.add(turnId);
    this.#over(turn);
    this.#desk.takeBackAll();
    this.#reporter.endTurn();
    // A turn that was given up is settled by whoever gave it up, when what it left running is gone too.
    if (!turn.isGivenUp) turn.settle(result, whole);
  }

  /** An older Codex makes a thread shorter without a turn of its own. */
  #isCompacted(turn: LiveTurn, method: string): boolean {
    return method === 'thread/compacted' && turn === this.#compaction && turn.id === null;
  }

  #lose(error: BatonError): void {
    this.#desk.takeBackAll();
    this.#reporter.endTurn();
    if (this.#running !== null) this.#over(this.#running);
    this.#awaited?.settle({ status: 'failed', error });
  }
}

function followItem(turn: LiveTurn, method: string, item: Fields): void {
  const reason = `tool ${textOf(item.id) ?? ''}`;
  const isOwnTool = item.type === 'mcpToolCall' && item.server === ownServer;
  if (method === 'item/started' && isOwnTool) turn.hold(reason);
  if (method !== 'item/completed') return;
  turn.release(reason);
  if (item.type === 'agentMessage') turn.lastMessage = textOf(item.text);
}
