import { createHash } from 'node:crypto';
import { timedOut, within } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { LiveProcess } from '../../../process/containment/live-process.ts';
import type { AgentSession, SessionRequest, TurnResult } from '../../agent.ts';
import { type AgentParts, endAgent } from '../../launch-agent.ts';
import { LiveTurn } from '../../live-turn.ts';
import { EventSink, emitTurnEnd } from '../../wire/event-sink.ts';
import { type Fields, textOf } from '../../wire/fields.ts';
import { RequestHandler } from '../requests/request-handler.ts';
import type { ClaudeOptions } from '../settings.ts';
import { serverOf, type ToolCall } from '../turn/items.ts';
import { Reporter } from '../turn/reporter.ts';
import { deniedTools, turnEndOf } from '../turn/turn-end.ts';
import { UsageMeter } from '../turn/usage-meter.ts';
import { ClaudeConnection } from '../wire/connection.ts';
import { hasOwnServer, ownServer, type SessionStart } from './arguments.ts';

/** How long an interrupted turn has to end before Baton ends the process. */
const interruptMs = 3_000;
/** The shortest limit for the first answer: a machine that just started reads a large program slowly. */
const leastStartMs = 30_000;
/** Compacting a conversation is one call of the model, so it takes minutes at most. */
const compactMs = 300_000;
/** Longer than Baton waits for any person. After that a call that began and never ended no longer holds the turn. */
const longestToolMs = 24 * 3_600_000;

/**
 * One Claude Code on one workspace. Three things are tracked apart: the turn that the caller awaits (`#awaited`), the
 * turn of Baton that runs or waits to run (`#running`), and whether Claude Code works at all (`#isWorking`), because it
 * also begins turns by itself, for example when a command in the background ends. A turn of Baton is over when Claude
 * Code reports a result and has read everything that Baton said in that turn: what is said too late for it is read in
 * another turn of Claude Code, which counts as the same.
 */
export class ClaudeSession implements AgentSession {
  readonly remembersTurns = true;
  readonly pid: number;
  readonly threadId: string;
  readonly isResumed: boolean;
  readonly events: EventSink;
  readonly #process: LiveProcess;
  readonly #request: SessionRequest;
  readonly #options: ClaudeOptions;
  readonly #parts: AgentParts;
  readonly #reporter: Reporter;
  readonly #requests: RequestHandler;
  readonly #connection: ClaudeConnection;
  readonly #meter: UsageMeter;
  /** Messages of the running turn that Claude Code has not read. */
  readonly #unread = new Set<string>();
  /** An older Claude Code does not say what it has read; then it has read everything. */
  #saysWhatItRead = false;
  #said = 0;
  #isWorking = false;
  #idle = Promise.withResolvers<void>();
  #awaited: LiveTurn | null = null;
  #running: LiveTurn | null = null;
  #compaction: LiveTurn | null = null;
  #compactError: string | null = null;
  #stopping: Promise<void> | null = null;

  constructor(
    process: LiveProcess,
    start: SessionStart,
    request: SessionRequest,
    options: ClaudeOptions,
    parts: AgentParts,
  ) {
    this.pid = process.pid;
    this.isResumed = 'resume' in start;
    this.threadId = 'resume' in start ? start.resume : start.sessionId;
    this.#process = process;
    this.#request = request;
    this.#options = options;
    this.#parts = parts;
    this.#meter = new UsageMeter(options.prices);
    this.events = new EventSink(parts.clock, process.pid, request.onEvent);
    const onCall = (call: ToolCall, isOver: boolean): void => this.#followCall(call, isOver);
    this.#reporter = new Reporter({ clock: parts.clock, events: this.events, meter: this.#meter, onCall });
    this.#requests = new RequestHandler({
      events: this.events,
      approvals: options.approvals,
      request,
      answer: (id, answer) => this.#connection.answer(id, answer),
      onOpen: () => this.#running?.hold('request'),
      onIdle: () => this.#running?.release('request'),
    });
    this.#connection = new ClaudeConnection(process, parts, {
      onSound: () => this.#running?.touch(),
      onMessage: (type, message) => this.#receive(type, message),
      onGarbage: (line) => this.events.emit(line.trimStart().startsWith('{') ? 'malformed' : 'other_message', line),
      onEnd: (error) => this.#lose(error),
    });
  }

  /** Opens the session up to the point where a turn can begin. */
  async begin(): Promise<void> {
    const { signal, recovery } = this.#request;
    const waitMs = Math.max(this.#options.readTimeoutMs, leastStartMs);
    const answer = await this.#connection.control({ subtype: 'initialize', hooks: null }, waitMs, signal);
    const { threadId, isResumed } = this;
    const how = `Claude Code ${isResumed ? 'resumes' : 'starts'} session ${threadId}`;
    const { claude_code_version: version, account } = answer;
    this.events.open('session_started', how, { payload: { threadId, isResumed, version, account } });
    if (isResumed && recovery?.compact === true) await this.#compact();
  }

  async runTurn(prompt: string, signal?: AbortSignal): Promise<TurnResult> {
    if (this.#isWorking) await this.#interrupt();
    if (this.#stopping !== null || signal?.aborted) return { status: 'cancelled' };
    const broken = this.#connection.ended ?? (this.#isWorking ? turnNotEnded() : null);
    if (broken !== null) return { status: 'failed', error: broken };
    const turn = this.#openTurn();
    this.#say(asWords(prompt));
    return this.#await(turn, signal);
  }

  async steer(text: string): Promise<boolean> {
    const turn = this.#awaited;
    if (turn === null || turn.isGivenUp) return false;
    const begun = await within(this.#parts.clock, this.#options.readTimeoutMs, turn.begun);
    if (begun === timedOut || begun === null || turn.isSettled || turn.isGivenUp || turn.isOver) return false;
    this.#say(asWords(text));
    return true;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#awaited?.giveUp();
    this.#requests.withdrawAll();
    if (this.#isWorking) await this.#interrupt();
    this.#awaited?.settle({ status: 'cancelled' });
    try {
      await endAgent(this.#process);
      await this.#connection.reading;
    } finally {
      this.#reporter.endTurn();
      this.events.close();
    }
  }

  #say(text: string): void {
    this.#said += 1;
    const uuid = uuidOf(`${this.#request.runId} ${this.#said}`);
    this.#unread.add(uuid);
    this.#connection.say(text, uuid);
  }

  /** Compacts the conversation. If that fails, it continues as it is: the next failure takes the next step. */
  async #compact(): Promise<void> {
    this.#request.signal?.throwIfAborted();
    const turn = this.#openTurn(() => {});
    this.#compaction = turn;
    this.#say('/compact');
    const result = await within(this.#parts.clock, compactMs, this.#await(turn, this.#request.signal));
    this.#request.signal?.throwIfAborted();
    const failure = result !== timedOut && result.status === 'failed' ? result.error.message : this.#compactError;
    const why = result === timedOut ? 'it took too long' : failure;
    if (why !== null) this.events.emit('notification', `failed to compact the conversation: ${why}`);
    if (this.#isWorking) await this.#interrupt();
  }

  #openTurn(
    onSettled = (result: TurnResult, payload: unknown): void => emitTurnEnd(this.events, result, payload),
  ): LiveTurn {
    const turn = new LiveTurn('Claude Code', this.#parts.clock, this.#options.turnTimeoutMs, onSettled);
    this.#unread.clear();
    this.#reporter.beginTurn();
    this.#awaited = turn;
    this.#running = turn;
    return turn;
  }

  async #await(turn: LiveTurn, signal: AbortSignal | undefined): Promise<TurnResult> {
    const onAbort = (): void => {
      turn.giveUp();
      this.#requests.withdrawAll();
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

  /** Takes back what Claude Code has not read, and ends the turn that it runs. `stop` ends what does not end in time. */
  async #interrupt(): Promise<void> {
    const turn = this.#running;
    const control: ClaudeConnection['control'] = (request, ...limits) =>
      this.#connection.control(request, ...limits).catch(() => ({}));
    const unread = [...this.#unread].map((uuid) => ({ subtype: 'cancel_async_message', message_uuid: uuid }) as const);
    this.#unread.clear();
    const end = async (): Promise<void> => {
      await Promise.all([...unread, { subtype: 'interrupt' } as const].map((each) => control(each, interruptMs)));
      if (this.#isWorking) await this.#idle.promise;
    };
    await within(this.#parts.clock, interruptMs, end());
    if (turn !== null && this.#running === turn) this.#over(turn);
  }

  #over(turn: LiveTurn): void {
    if (this.#running === turn) this.#running = null;
    turn.end();
  }

  #receive(type: string, message: Fields): void {
    if (type === 'control_request') void this.#requests.handle(message);
    else if (type === 'control_cancel_request') this.#requests.withdraw(message);
    else if (type === 'command_lifecycle') this.#followSaid(message);
    else if (type === 'system' && message.subtype === 'init') this.#work(message);
    if (type === 'system' && message.compact_result === 'failed')
      this.#compactError = textOf(message.compact_error) ?? 'no reason given';
    this.#reporter.report(type, message);
    if (type === 'result') this.#result(message);
  }

  /** Follows what Claude Code does with a message of Baton. */
  #followSaid({ command_uuid: uuid, state }: Fields): void {
    this.#saysWhatItRead = true;
    if (state === 'queued' || typeof uuid !== 'string' || !this.#unread.delete(uuid)) return;
    if (state !== 'started') return;
    this.#startWork();
    if (this.#running !== null) this.#begun(this.#running, uuid);
  }

  /** A turn of Claude Code begins. */
  #work(message: Fields): void {
    this.#startWork();
    const turn = this.#running;
    if (turn !== null && !this.#saysWhatItRead) this.#begun(turn, this.threadId);
    if (turn !== null || this.#stopping !== null) return;
    // It costs what any turn costs, and no limit of Baton covers it.
    const payload = { session_id: message.session_id };
    this.events.emit('notification', 'Claude Code started a turn by itself; Baton interrupts it', { payload });
    void this.#interrupt();
  }

  #startWork(): void {
    if (!this.#isWorking) this.#idle = Promise.withResolvers();
    this.#isWorking = true;
  }

  #begun(turn: LiveTurn, id: string): void {
    // Emitted when Claude Code has the prompt, not when Baton sends it: one that never arrived must not count as sent.
    const isFirst = turn.isFirstWord() && turn !== this.#compaction && !turn.isSettled;
    if (isFirst) this.events.emit('turn_started', 'turn started');
    turn.begin(id);
  }

  #result(message: Fields): void {
    this.#isWorking = false;
    this.#idle.resolve();
    this.#requests.withdrawAll();
    this.#reporter.endTurn();
    const usage = this.#meter.endTurn(message);
    const summary = `tokens so far: ${usage.inputTokens} in, ${usage.outputTokens} out`;
    this.events.emit('notification', summary, {
      usage,
      payload: { method: 'thread/tokenUsage/updated', params: usage },
    });
    const denied = deniedTools(message);
    if (denied.length > 0)
      this.events.emit('notification', `was denied: ${denied.join(', ')}`, { payload: message.permission_denials });
    const turn = this.#running;
    // Claude Code ended a turn that it began by itself, before it read the prompt.
    if (turn === null || turn.id === null) return;
    const { error, resetsAt } = this.#reporter;
    const home = this.#parts.accountEnv.CLAUDE_CONFIG_DIR ?? null;
    const result = turnEndOf(message, { error, resetsAt, now: this.#parts.clock.now(), home });
    if (result.status === 'completed' && this.#saysWhatItRead && this.#unread.size > 0) return;
    this.#over(turn);
    // The caller that gave up a turn also settles it.
    if (!turn.isGivenUp) turn.settle(result, message);
  }

  /** Silence does not count while a tool of Baton works: it may ask a person. */
  #followCall({ id, name }: ToolCall, isOver: boolean): void {
    if (serverOf(name).server !== ownServer || !hasOwnServer(this.#options, this.#request)) return;
    if (isOver) this.#running?.release(`tool ${id}`);
    else this.#running?.hold(`tool ${id}`, longestToolMs);
  }

  #lose(error: BatonError): void {
    this.#isWorking = false;
    this.#idle.resolve();
    this.#requests.withdrawAll();
    this.#reporter.endTurn();
    const running = this.#running;
    if (running === null) return;
    this.#over(running);
    if (this.#awaited === running) running.settle({ status: 'failed', error });
  }
}

/**
 * Claude Code runs a message that begins with a slash as a command of its own (`/clear`, `/compact`). Words of issues and
 * people must not.
 */
function asWords(text: string): string {
  return text.trimStart().startsWith('/') ? `This is a message, not a command:\n\n${text}` : text;
}

/** Why no turn can begin: Claude Code would add its prompt to the turn that still runs. */
function turnNotEnded(): BatonError {
  const message = 'Claude Code did not end an interrupted turn, so it cannot start another one.';
  return new BatonError('agent_protocol_error', message);
}

/** The same id for the same text, in the form of a random UUID. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
