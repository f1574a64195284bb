import type {
  Agent,
  AgentEventName,
  AgentSession,
  SessionRequest,
  TokenUsage,
  TurnResult,
} from '../../src/agent/agent.ts';
import { sleep } from '../../src/clock/clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import { drawTemper, drawTurn, type Temper, type TurnScript } from './agent-script.ts';
import { type Life, never } from './life.ts';
import type { SimulatedProcess } from './process-table.ts';
import type { World } from './world.ts';

/** Agents whose process lives in the world: what it does it does by the world's clock, also when its daemon is dead. */
export function simulatedAgent(world: World, life: Life, turnTimeoutMs: number): Agent {
  return {
    backend: 'simulated',
    startSession: (request) => life.call('agent.startSession', () => startSession(world, life, request, turnTimeoutMs)),
  };
}

async function startSession(
  world: World,
  life: Life,
  request: SessionRequest,
  turnTimeoutMs: number,
): Promise<AgentSession> {
  const { draw, plan } = world;
  const temper = drawTemper(draw.agents, world.isCalm ? 0 : plan.agents.hostile);
  const survives = !world.isCalm && draw.agents.chance(plan.agents.survives);
  await sleep(life.clock, draw.agents.between(1, 1_500), request.signal);
  if (temper === 'does_not_start' && draw.agents.chance(0.5)) throw launchFailed();
  const process = world.spawn(life, request.runId, request.env.BATON_ISSUE_ID ?? '', survives);
  request.onProcess({ pid: process.pid, startTime: process.startTime });
  process.onExit.add(() => {
    if (!process.isUnheard) life.deliver(() => request.onProcess(null));
  });
  const session = new SimulatedSession({ world, life, request, process, temper, turnTimeoutMs });
  try {
    await sleep(life.clock, draw.agents.between(0, 1_500), request.signal);
    if (temper === 'does_not_start' || !world.processes.isLive(process)) throw launchFailed();
  } catch (error) {
    await session.end();
    throw error;
  }
  session.tell('session_started', 'a session');
  return session;
}

function launchFailed(): BatonError {
  return new BatonError('agent_launch_failed', 'The simulated agent did not start.');
}

interface SessionParts {
  readonly world: World;
  readonly life: Life;
  readonly request: SessionRequest;
  readonly process: SimulatedProcess;
  readonly temper: Temper;
  readonly turnTimeoutMs: number;
}

class SimulatedSession implements AgentSession {
  readonly threadId: string;
  readonly remembersTurns: boolean;
  readonly #parts: SessionParts;
  #usage = 0;
  #isStopped = false;
  #ending: Promise<void> | null = null;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.threadId = `thread-${parts.process.pid}`;
    this.remembersTurns = parts.world.draw.agents.chance(0.7);
  }

  get pid(): number {
    return this.#parts.process.pid;
  }

  runTurn(_prompt: string, signal?: AbortSignal): Promise<TurnResult> {
    return this.#parts.life.call('agent.runTurn', () => this.#turn(signal));
  }

  stop(): Promise<void> {
    return this.#parts.life.call('agent.stop', () => this.end());
  }

  /** Asks the process to end and waits until it has; rejects when it does not. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const { world, life, process } = this.#parts;
    const left = await world.endProcess(process);
    if (life.isDead) return never();
    this.#isStopped = true;
    if (left) throw new BatonError('agent_survives', '1 processes of the agent could not be ended.');
  }

  async #turn(signal: AbortSignal | undefined): Promise<TurnResult> {
    const { world, life, process, temper, turnTimeoutMs } = this.#parts;
    if (signal?.aborted) return { status: 'cancelled' };
    if (!world.processes.isLive(process)) return exited();
    const script = drawTurn(world.draw.agents, world.isCalm ? 'good' : temper);
    const { promise, resolve } = Promise.withResolvers<TurnResult>();
    const onAbort = (): void => resolve({ status: 'cancelled' });
    const onExit = (): void => {
      if (!process.isUnheard) life.deliver(() => resolve(exited()));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    process.onExit.add(onExit);
    const silence = new Silence(life, turnTimeoutMs, () =>
      resolve({ status: 'failed', error: new BatonError('agent_turn_timeout', 'The simulated agent said nothing.') }),
    );
    this.#play(script, resolve, () => silence.touch());
    const result = await promise;
    silence.cancel();
    signal?.removeEventListener('abort', onAbort);
    process.onExit.delete(onExit);
    this.tell(result.status === 'completed' ? 'turn_completed' : 'turn_failed', result.status, this.#use());
    return result;
  }

  /** Puts what the agent means to do into the world's future; the end of its process takes it out again. */
  #play(script: TurnScript, settle: (result: TurnResult) => void, heard: () => void): void {
    const { world, process, life } = this.#parts;
    const tellAt = (nth: number): void => {
      if (nth * script.eventEveryMs >= script.durationMs && script.end !== 'never') return;
      if (script.silentAfter !== null && nth > script.silentAfter) return;
      world.later(process, script.eventEveryMs, () => {
        if (life.isDead) return;
        life.deliver(() => {
          heard();
          if (script.babbles) this.#babble();
          else this.tell('notification', 'at work', this.#use());
        });
        tellAt(nth + 1);
      });
    };
    tellAt(1);
    if (script.changes)
      world.later(process, script.durationMs * 0.5, () => world.changeWorkspace(this.#parts.request.workspace));
    const { moveTo } = script;
    if (moveTo !== null)
      world.later(process, script.durationMs * 0.8, () => {
        if (life.isDead) world.moveAsAgent(process, moveTo);
        else life.deliver(() => void this.#move(moveTo));
      });
    if (script.end !== 'never') world.later(process, script.durationMs, () => this.#finish(script, settle));
  }

  #finish(script: TurnScript, settle: (result: TurnResult) => void): void {
    const { world, process, life } = this.#parts;
    const isCrash = script.end === 'crashed' || script.end === 'vanished';
    process.isUnheard = script.end === 'vanished';
    if (isCrash || life.isDead) world.finishOrphan(process, isCrash);
    else life.deliver(() => settle(this.#resultOf(script)));
  }

  #resultOf({ end, quotaBackMs }: TurnScript): TurnResult {
    const { world, life, request } = this.#parts;
    if (end === 'asks') return { status: 'input_required', question: 'Which of the two?' };
    if (end === 'completed') return { status: 'completed' };
    if (end !== 'out_of_quota')
      return { status: 'failed', error: new BatonError('agent_turn_failed', 'The simulated turn failed.') };
    const resetsAt = quotaBackMs === null ? null : life.clock.now() + quotaBackMs;
    world.quotaBackAt.set(request.runId, world.now + Math.max(0, quotaBackMs ?? 0));
    const details = resetsAt === null ? {} : { resets_at: resetsAt };
    const error = new BatonError('agent_quota_exhausted', 'The simulated account has no quota.', { details });
    return { status: 'failed', error };
  }

  /** By the tool door, which there is while there is a daemon; else an agent has its own means. */
  async #move(state: string): Promise<void> {
    const { life, request } = this.#parts;
    const answer = await request.tools.call('update_issue_status', { status: state });
    if (!life.isDead) this.tell(answer.success ? 'tool_called' : 'unsupported_tool_call', answer.output);
  }

  #use(): TokenUsage {
    this.#usage += this.#parts.world.draw.agents.between(1, 1_000);
    return { inputTokens: this.#usage, outputTokens: this.#usage, totalTokens: this.#usage * 2 };
  }

  /** Figures that fall, names that say the turn is over though it is not, text that is no text. */
  #babble(): void {
    const { draw } = this.#parts.world;
    const name = draw.agents.pick(['malformed', 'turn_completed', 'session_started', 'other_message'] as const);
    const figure = draw.agents.between(0, 2_000);
    this.tell(name, '\u0000\ud800 {"type":', { inputTokens: figure, outputTokens: 0, totalTokens: figure });
  }

  tell(name: AgentEventName, summary: string, usage?: TokenUsage): void {
    const { life, request } = this.#parts;
    if (life.isDead || this.#isStopped) return;
    const event = { name, at: life.clock.now(), pid: this.pid, summary };
    request.onEvent(usage === undefined ? event : { ...event, usage });
  }
}

function exited(): TurnResult {
  return { status: 'failed', error: new BatonError('agent_exited', 'The simulated agent ended.') };
}

/** The adapter's own watch over a turn: silence, not duration. */
class Silence {
  readonly #arm: () => { cancel(): void };
  #timer: { cancel(): void };

  constructor(life: Life, limitMs: number, onSilence: () => void) {
    this.#arm = () => life.clock.schedule(limitMs, onSilence);
    this.#timer = this.#arm();
  }

  touch(): void {
    this.#timer.cancel();
    this.#timer = this.#arm();
  }

  cancel(): void {
    this.#timer.cancel();
  }
}
