import { timedOut, within } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { LiveProcess } from '../../../process/containment/live-process.ts';
import type { AgentSession, SessionRequest, TurnResult } from '../../agent.ts';
import { type AgentParts, endAgent } from '../../launch-agent.ts';
import { LiveTurn } from '../../live-turn.ts';
import { EventSink, emitTurnEnd } from '../../wire/event-sink.ts';
import { isFields } from '../../wire/fields.ts';
import type { CodexAgentOptions } from '../codex-options.ts';
import { RequestHandler } from '../requests/request-handler.ts';
import { codexError } from '../turn/codex-error.ts';
import { ForeignTurns } from '../turn/foreign-turns.ts';
import { interruptTurn } from '../turn/interrupt-turn.ts';
import { type AboutTurn, aboutTurn, followItem, PastTurns } from '../turn/past-turns.ts';
import { neededInput, turnEndOf, turnNotEnded } from '../turn/turn-end.ts';
import { CodexConnection, CodexRefusal } from '../wire/connection.ts';
import type { Frame } from '../wire/frame.ts';
import { FrameReporter } from '../wire/report-frames.ts';
import { openSession } from './open-session.ts';
import * as say from './session-params.ts';

/** How long an interrupted turn and the commands it left running have to end before Baton ends the process. */
const interruptMs = 3_000;
/** Compacting a thread is one call of the model, so it takes minutes at most. */
const compactMs = 300_000;

/**
 * One app-server on one workspace. Two turns are tracked separately: the turn that the caller awaits (`#awaited`), and
 * the turn that Codex runs (`#running`), which continues when the first was given up, fell silent or needs a person. No
 * turn begins while another runs: Codex would add its prompt to the running turn.
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
  readonly #events: EventSink;
  readonly #reporter: FrameReporter;
  readonly #requests: RequestHandler;
  readonly #hasOwnServer: boolean;
  readonly #connection: CodexConnection;
  readonly #pastTurns = new PastTurns();
  readonly #foreign: ForeignTurns;
  /** Why no further turn can begin: Codex still runs a turn that Baton interrupted. */
  #stuck: BatonError | null = null;
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
    this.#hasOwnServer = options.tools === 'mcp' && request.toolAddress !== null;
    this.#events = new EventSink(parts.clock, process.pid, request.onEvent);
    this.#reporter = new FrameReporter(parts.clock, this.#events);
    const ours = { clock: parts.clock, events: this.#events };
    this.#foreign = new ForeignTurns({ ...ours, connection: () => this.#connection, waitMs: interruptMs });
    this.#requests = new RequestHandler({
      ...ours,
      approvals: options.approvals,
      hasOwnServer: this.#hasOwnServer,
      request,
      answer: (id, answer) => this.#connection.answer(id, answer),
      tellAgent: (text) => void this.steer(text).catch(() => false),
      changesOf: (itemId) => this.#reporter.changesOf(itemId),
      onOpen: () => this.#running?.hold('request'),
      onIdle: () => this.#running?.release('request'),
    });
    this.#connection = new CodexConnection(process, parts, {
      onSound: () => this.#running?.touch(),
      onFrame: (frame) => this.#receive(frame),
      onGarbage: (line) => this.#events.emit(line.trimStart().startsWith('{') ? 'malformed' : 'other_message', line),
      onEnd: (error) => this.#lose(error),
    });
  }

  /** Opens the session up to the point where a turn can begin. */
  async begin(): Promise<void> {
    const ours = { connection: this.#connection, reporter: this.#reporter, events: this.#events };
    const { threadId, isResumed } = await openSession(ours, this.#options, this.#request, this.#parts);
    this.threadId = threadId;
    this.isResumed = isResumed;
    if (isResumed && this.#request.recovery?.compact === true) await this.#compact(threadId);
  }

  async runTurn(prompt: string, signal?: AbortSignal): Promise<TurnResult> {
    if (this.#running !== null) await this.#interrupt(this.#running);
    else await this.#endForeign();
    if (this.#stopping !== null || signal?.aborted || this.threadId === null) return { status: 'cancelled' };
    const broken = this.#connection.ended ?? this.#stuck ?? (this.#foreign.isIn(this.threadId) ? turnNotEnded() : null);
    if (broken !== null) return { status: 'failed', error: broken };
    const turn = this.#openTurn();
    const params = say.turnStartParams(this.#options, this.#request, this.threadId, prompt);
    this.#connection
      .request('turn/start', params, this.#options.readTimeoutMs)
      .then((answer) => this.#begun(turn, say.idIn(answer, 'turn')))
      .catch((error: unknown) => this.#refused(turn, error));
    return this.#await(turn, signal);
  }

  async steer(text: string): Promise<boolean> {
    const turn = this.#awaited;
    const { threadId } = this;
    if (turn === null || turn.isGivenUp || threadId === null) return false;
    const id = await within(this.#parts.clock, this.#options.readTimeoutMs, turn.begun);
    if (id === timedOut || id === null || turn.isSettled || turn.isGivenUp) return false;
    const params = { threadId, expectedTurnId: id, input: say.textInput(text) };
    try {
      await this.#connection.request('turn/steer', params, this.#options.readTimeoutMs);
      return !turn.isGivenUp;
    } catch (error) {
      // The turn ended meanwhile, so the agent did not receive the text.
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
    this.#requests.withdrawAll();
    if (this.#running !== null) await this.#interrupt(this.#running);
    else await Promise.all([this.#endForeign(), this.#foreign.cleanTerminals(this.threadId)]);
    this.#awaited?.settle({ status: 'cancelled' });
    try {
      await endAgent(this.#process);
      await this.#connection.reading;
    } finally {
      this.#reporter.endTurn();
      this.#events.close();
    }
  }

  /** Compacts the thread. If that fails, the thread continues as it is: the next failure takes the next step. */
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
    this.#events.emit('notification', `failed to compact the thread: ${why}`);
    if (this.#running === turn) await this.#interrupt(turn);
  }

  #openTurn(
    onSettled = (result: TurnResult, payload: unknown): void => emitTurnEnd(this.#events, result, payload),
  ): LiveTurn {
    const turn = new LiveTurn('Codex', this.#parts.clock, this.#options.turnTimeoutMs, onSettled);
    this.#awaited = turn;
    this.#running = turn;
    if (this.#requests.isOpen) turn.hold('request');
    return turn;
  }

  async #await(turn: LiveTurn, signal: AbortSignal | undefined): Promise<TurnResult> {
    const onAbort = (): void => {
      turn.giveUp();
      this.#requests.withdrawAll();
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

  /** Ends a turn in Codex, and the commands that it left running. `stop` ends what does not end in time. */
  async #interrupt(turn: LiveTurn): Promise<void> {
    const { threadId } = this;
    const { clock } = this.#parts;
    const own = interruptTurn(turn, { connection: this.#connection, clock, threadId, waitMs: interruptMs });
    const work = Promise.all([own, this.#endForeign()]).then(() => this.#foreign.cleanTerminals(threadId));
    await within(clock, interruptMs, work);
    this.#pastTurns.add(turn.id);
    if (this.#running !== turn) return;
    // Codex may still report the end of this turn, which must not count as the end of another turn.
    this.#running = null;
    this.#stuck = turnNotEnded();
  }

  async #endForeign(): Promise<void> {
    if (!this.#foreign.isEmpty) await within(this.#parts.clock, interruptMs, this.#foreign.endAll());
  }

  #begun(turn: LiveTurn, id: string | null): void {
    // Emitted when Codex has the turn, not when Baton asks for it: a prompt that never arrived must not count as sent.
    const isFirst = turn.isFirstWord() && turn !== this.#compaction && !turn.isSettled;
    if (isFirst) this.#events.emit('turn_started', 'turn started');
    turn.begin(id);
    this.#reporter.meter.beginTurn(id);
  }

  #refused(turn: LiveTurn, error: unknown): void {
    // After a timeout Codex may run the turn all the same, so only a refusal ends it.
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

  #receive(frame: Exclude<Frame, { kind: 'answer' }>): void {
    if (frame.kind === 'other') {
      this.#events.emit('other_message', 'a message without a method', { payload: frame.whole });
      return;
    }
    const { method, params, whole } = frame;
    const about = aboutTurn(params, this.threadId, this.#running, this.#pastTurns);
    const turn = about.turn?.isSettled || about.turn?.isGivenUp ? null : about.turn;
    const needed = turn === null ? null : neededInput(method, params, whole, frame.kind === 'request');
    if (needed !== null) turn?.settle({ status: 'input_required', question: needed }, whole);
    if (frame.kind === 'request') void this.#requests.handle(frame);
    else this.#follow(frame, about, needed !== null);
  }

  #follow({ method, params, whole }: Notification, { threadId, turnId, turn }: AboutTurn, isTold: boolean): void {
    if (method === 'serverRequest/resolved') this.#requests.withdraw(params.requestId);
    const mayWork = this.#running !== null && threadId !== this.threadId;
    const isStart = method === 'turn/started';
    if (turn !== null && isStart) this.#begun(turn, turnId);
    if (turn === null && !(isStart && this.#pastTurns.has(turnId))) {
      this.#foreign.follow(method, threadId, turnId, mayWork);
      if (isStart) this.#pastTurns.add(turnId);
    }
    if (!isTold) this.#reporter.report(method, params, whole);
    if (turn === null) return;
    if (isFields(params.item)) followItem(turn, method, params.item, this.#hasOwnServer);
    const result = this.#isCompacted(turn, method)
      ? { status: 'completed' as const }
      : turnEndOf(method, params, turn.lastMessage, this.#surroundings(), whole);
    if (result === null) return;
    this.#pastTurns.add(turnId ?? turn.id);
    this.#over(turn);
    this.#requests.withdrawAll();
    this.#reporter.endTurn();
    // The caller that gave up a turn also settles it, once the commands that it left running are gone.
    if (turn.isGivenUp) return;
    const settle = (): void => turn.settle(result, whole);
    // The verdict is final. Baton now waits for helper turns to end, so silence of Codex does not count.
    turn.hold('helpers');
    if (this.#foreign.isEmpty) settle();
    else void this.#endForeign().then(settle);
  }

  /** An older Codex compacts a thread without a separate turn. */
  #isCompacted(turn: LiveTurn, method: string): boolean {
    return method === 'thread/compacted' && turn === this.#compaction && turn.id === null;
  }

  #lose(error: BatonError): void {
    this.#requests.withdrawAll();
    this.#reporter.endTurn();
    this.#foreign.clear();
    const running = this.#running;
    if (running === null) return;
    this.#over(running);
    // A turn that was over before has its verdict, and the code that set the verdict settles it.
    if (this.#awaited === running) running.settle({ status: 'failed', error });
  }
}

type Notification = Extract<Frame, { kind: 'notification' }>;
