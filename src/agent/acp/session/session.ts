import { timedOut, within } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { LiveProcess } from '../../../process/containment/live-process.ts';
import type { AgentSession, SessionRequest, TurnResult } from '../../agent.ts';
import { type AgentParts, endAgent } from '../../launch-agent.ts';
import { LiveTurn } from '../../live-turn.ts';
import { EventSink, emitTurnEnd } from '../../wire/event-sink.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../wire/fields.ts';
import { RequestHandler } from '../requests/request-handler.ts';
import type { AcpOptions } from '../settings.ts';
import { beginsWork, isWork, Reporter } from '../turn/reporter.ts';
import { type EndSurroundings, refusalOf, turnEndOf } from '../turn/turn-end.ts';
import { UsageMeter } from '../turn/usage-meter.ts';
import { AcpConnection, isRefusal, type Sdk } from '../wire/connection.ts';
import { openSession } from './open-session.ts';

/** How long an interrupted turn has to end before Baton ends the process. */
const interruptMs = 5_000;
/** Compacting a conversation is one call of the model, so it takes minutes at most. */
const compactMs = 300_000;
/** How long a continued session has to say which commands it has. */
const commandsMs = 3_000;

/**
 * One agent on one workspace. Two things are tracked apart: the turn that the caller awaits (`#awaited`), and the prompt
 * that the agent has not answered yet (`#prompt`), which may be that of a turn that was given up.
 */
export class AcpSession implements AgentSession {
  readonly remembersTurns = true;
  readonly pid: number;
  readonly events: EventSink;
  steer?: NonNullable<AgentSession['steer']>;
  readonly #process: LiveProcess;
  readonly #request: SessionRequest;
  readonly #options: AcpOptions;
  readonly #parts: AgentParts;
  readonly #meter: UsageMeter;
  readonly #reporter: Reporter;
  readonly #requests: RequestHandler;
  readonly #connection: AcpConnection;
  readonly #commands = Promise.withResolvers<readonly string[]>();
  #threadId: string | null = null;
  #isResumed = false;
  #isOpen = false;
  #pauses = 0;
  #awaited: LiveTurn | null = null;
  #compaction: LiveTurn | null = null;
  /** The agent works without a prompt, and was asked to stop. */
  #isAlone = false;
  #prompt: { readonly turn: LiveTurn; readonly answered: Promise<void> } | null = null;
  #stopping: Promise<void> | null = null;

  constructor(sdk: Sdk, process: LiveProcess, request: SessionRequest, options: AcpOptions, parts: AgentParts) {
    this.pid = process.pid;
    this.#process = process;
    this.#request = request;
    this.#options = options;
    this.#parts = parts;
    this.#meter = new UsageMeter(options.prices, options.preset?.reportsLastCall === true);
    this.events = new EventSink(parts.clock, process.pid, request.onEvent);
    this.#requests = new RequestHandler({
      events: this.events,
      approvals: options.approvals,
      request,
      parts,
      onOpen: () => this.#turn?.hold('request'),
      onIdle: () => this.#turn?.release('request'),
      onOutput: () => this.#turn?.touch(),
      hasTurn: () => this.#turn !== null && !this.#turn.isGivenUp,
    });
    this.#reporter = new Reporter({
      clock: parts.clock,
      events: this.events,
      meter: this.#meter,
      terminal: (id) => this.#requests.terminals.shownIn(id),
    });
    this.#connection = new AcpConnection(options.name, sdk, process, parts, {
      onSound: () => this.#turn?.touch(),
      onNotification: (method, params) => this.#receive(method, params),
      onRequest: (method, params, signal) => {
        this.#begun();
        return this.#requests.handle(method, params, signal);
      },
      onGarbage: (line) => this.events.emit(line.trimStart().startsWith('{') ? 'malformed' : 'other_message', line),
      onEnd: (error) => this.#lose(error),
    });
  }

  get threadId(): string | null {
    return this.#threadId;
  }

  get isResumed(): boolean {
    return this.#isResumed;
  }

  /** The turn that the agent works on. */
  get #turn(): LiveTurn | null {
    return this.#prompt?.turn ?? null;
  }

  /** Opens the session up to the point where a turn can begin. */
  async begin(): Promise<void> {
    const { events } = this;
    const now = (): number => this.#parts.clock.now();
    const open = { connection: this.#connection, request: this.#request, options: this.#options, events, now };
    const { sessionId, isResumed, model, canSteer, facts } = await openSession(open);
    this.#threadId = sessionId;
    this.#isResumed = isResumed;
    this.#isOpen = true;
    this.#meter.setModel(model);
    if (isResumed) this.#meter.resume();
    if (canSteer) this.steer = (text) => this.#steer(text);
    const how = `${this.#options.name} ${isResumed ? 'resumes' : 'starts'} session ${sessionId}`;
    events.open('session_started', how, { payload: facts });
    if (isResumed && this.#request.recovery?.compact === true) await this.#compact();
  }

  async runTurn(prompt: string, signal?: AbortSignal): Promise<TurnResult> {
    if (this.#prompt !== null) await this.#interrupt();
    if (this.#stopping !== null || signal?.aborted) return { status: 'cancelled' };
    const broken = this.#connection.ended ?? (this.#prompt === null ? null : turnNotEnded());
    if (broken !== null) return { status: 'failed', error: broken };
    return this.#await(
      this.#say(prompt, (result, payload) => emitTurnEnd(this.events, result, payload)),
      signal,
    );
  }

  pauseSilence(): () => void {
    const turn = this.#turn;
    this.#pauses += 1;
    const reason = `tool ${this.#pauses}`;
    turn?.hold(reason);
    return () => turn?.release(reason);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#awaited?.giveUp();
    this.#requests.withdrawAll();
    if (this.#prompt !== null) await this.#interrupt();
    this.#awaited?.settle({ status: 'cancelled' });
    try {
      await this.#requests.terminals.close();
      await endAgent(this.#process);
      await this.#connection.reading;
    } finally {
      this.#reporter.endTurn();
      this.events.close();
    }
  }

  async #steer(text: string): Promise<boolean> {
    const turn = this.#awaited;
    if (turn === null || turn.isGivenUp || turn.isSettled) return false;
    const { readTimeoutMs } = this.#options;
    // Without this, an agent that has just ended the turn would begin one that Baton does not count.
    const _meta = { steering: { idleBehavior: 'promptRequired' } };
    const params = { sessionId: this.#threadId, prompt: [{ type: 'text', text }], _meta };
    const { outcome } = await this.#connection.request('_session/steering', params, readTimeoutMs);
    return outcome === 'injected';
  }

  #say(text: string, onSettled: (result: TurnResult, payload: unknown) => void): LiveTurn {
    const turn = new LiveTurn(this.#options.name, this.#parts.clock, this.#options.turnTimeoutMs, onSettled);
    this.#reporter.beginTurn();
    this.#awaited = turn;
    const params = { sessionId: this.#threadId, prompt: [{ type: 'text', text }] };
    const answered = this.#connection.send('session/prompt', params).then(
      (answer) => this.#answered(turn, answer),
      (error: unknown) => this.#refused(turn, error),
    );
    this.#prompt = { turn, answered };
    this.#isAlone = false;
    return turn;
  }

  async #await(turn: LiveTurn, signal: AbortSignal | undefined): Promise<TurnResult> {
    const onAbort = (): void => {
      turn.giveUp();
      void this.#interrupt().then(() => turn.settle({ status: 'cancelled' }));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await turn.result;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      if (this.#awaited === turn) this.#awaited = null;
    }
  }

  /** Cancels the prompt. Open questions are answered with that; `stop` ends what does not end in time. */
  async #interrupt(): Promise<void> {
    const prompt = this.#prompt;
    if (prompt === null) return;
    this.#connection.notify('session/cancel', { sessionId: this.#threadId });
    this.#requests.withdrawAll();
    await within(this.#parts.clock, interruptMs, prompt.answered);
  }

  /** Compacts the conversation. If that fails, it continues as it is: the next failure takes the next step. */
  async #compact(): Promise<void> {
    const { clock } = this.#parts;
    const { signal } = this.#request;
    const commands = await within(clock, commandsMs, this.#commands.promise);
    if (commands === timedOut || !commands.includes('compact')) {
      this.events.emit('notification', 'the agent has no command that compacts the conversation; skipped');
      return;
    }
    this.#compaction = this.#say('/compact', () => {});
    const result = await within(clock, compactMs, this.#await(this.#compaction, signal));
    signal?.throwIfAborted();
    const failure = result === timedOut ? 'it took too long' : result.status === 'failed' ? result.error.message : null;
    if (failure !== null) this.events.emit('notification', `failed to compact the conversation: ${failure}`);
    if (this.#prompt !== null) await this.#interrupt();
  }

  #receive(method: string, params: Fields): void {
    const update = fieldsOf(params.update);
    if (method !== 'session/update') {
      // Such as an extension of the protocol, which begins with an underscore.
      if (!method.startsWith('_')) this.events.emit('notification', method, { payload: { method, params } });
      return;
    }
    if (update.sessionUpdate === 'available_commands_update')
      this.#commands.resolve(listOf(update.availableCommands).flatMap((each) => textOf(fieldsOf(each).name) ?? []));
    // A session that is loaded sends its whole conversation again.
    if (!this.#isOpen) return;
    if (isWork(update.sessionUpdate)) this.#begun();
    const session = textOf(params.sessionId);
    const parent = session === this.#threadId || session === null ? null : session;
    if (beginsWork(update.sessionUpdate)) this.#endAlone(parent);
    this.#reporter.report(update, parent);
  }

  /**
   * A turn that the agent begins by itself, or the work of a sub-agent after the turn, costs what any turn costs, and no
   * limit of Baton covers it.
   */
  #endAlone(helper: string | null): void {
    if (this.#prompt !== null || this.#stopping !== null) return;
    if (helper !== null) this.#connection.notify('session/cancel', { sessionId: helper });
    if (helper !== null || this.#isAlone) return;
    this.#isAlone = true;
    this.events.emit('notification', 'the agent started a turn by itself; Baton interrupts it');
    this.#connection.notify('session/cancel', { sessionId: this.#threadId });
  }

  /** Emitted when the agent works, not when Baton sends the prompt: one that never arrived must not count as sent. */
  #begun(): void {
    const turn = this.#turn;
    if (turn === null || turn === this.#compaction || !turn.isFirstWord() || turn.isSettled) return;
    this.events.emit('turn_started', 'turn started');
  }

  #answered(turn: LiveTurn, answer: Fields): void {
    this.#begun();
    const usage = this.#over(turn, answer);
    if (!turn.isGivenUp) turn.settle(turnEndOf(answer, this.#around()), { ...answer, usage });
  }

  #refused(turn: LiveTurn, error: unknown): void {
    // The end of the connection is reported by itself.
    if (!isRefusal(error)) return;
    this.#begun();
    this.#over(turn, {});
    const { code, message, data } = error;
    const failed = refusalOf(error, this.#around());
    if (!turn.isGivenUp) turn.settle({ status: 'failed', error: failed }, { error: { code, message, data } });
  }

  #around(): EndSurroundings {
    const login = this.#options.preset?.login ?? 'Log in with the program itself.';
    const { lastMessage, resetsAt } = this.#reporter;
    return { lastMessage, resetsAt, now: this.#parts.clock.now(), login };
  }

  /** The agent no longer works on a prompt. */
  #over(turn: LiveTurn, answer: Fields): unknown {
    if (this.#prompt?.turn === turn) this.#prompt = null;
    this.#requests.withdrawAll();
    this.#reporter.endTurn();
    const usage = this.#meter.endTurn(answer);
    if (usage !== null) {
      const summary = `tokens so far: ${usage.inputTokens} in, ${usage.outputTokens} out`;
      const payload = { method: 'thread/tokenUsage/updated', params: usage };
      this.events.emit('notification', summary, { usage, payload });
    }
    turn.end();
    return usage;
  }

  #lose(error: BatonError): void {
    const turn = this.#turn;
    this.#requests.withdrawAll();
    this.#reporter.endTurn();
    if (turn === null) return;
    this.#over(turn, {});
    turn.settle({ status: 'failed', error });
  }
}

/** Why no turn can begin: the agent would add its prompt to the turn that still runs. */
function turnNotEnded(): BatonError {
  const message = 'The agent did not end an interrupted turn, so it cannot start another one.';
  return new BatonError('agent_protocol_error', message);
}
