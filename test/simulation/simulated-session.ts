import type { AgentEventName, AgentSession, SessionRequest, TokenUsage, TurnResult } from '../../src/agent/agent.ts';
import type { QuotaWindow } from '../../src/core/account/account.ts';
import { BatonError } from '../../src/core/baton-error.ts';
import { drawAsks, drawTurn, type Temper, type TurnScript } from './agent-script.ts';
import { type Incarnation, never } from './incarnation.ts';
import { drawPhaseTurn, drawPhaseVerdict } from './pipeline/phase-turn.ts';
import type { PipelineWorld } from './pipeline/pipeline-world.ts';
import type { PlannerPlan } from './planner/planner-plan.ts';
import { drawPlannerTurn } from './planner/planner-turn.ts';
import type { SimulatedProcess } from './process-table.ts';
import { type BranchWork, drawBranchWork, workOnBranch } from './review/review-agent.ts';
import { drawJudgeTurn, type JudgeTurn } from './review/simulated-judge.ts';
import { playTaskTurn } from './tasks/task-turn.ts';
import { TurnAsks } from './turn-asks.ts';
import { refusal } from './turn-refusal.ts';
import type { World } from './world.ts';

export interface SessionParts {
  readonly world: World;
  readonly incarnation: Incarnation;
  readonly request: SessionRequest;
  readonly process: SimulatedProcess;
  readonly temper: Temper;
  readonly turnTimeoutMs: number;
  readonly account: string;
}

/** One agent: its turns, its questions, the messages it gets, and its end. */
export class SimulatedSession implements AgentSession {
  readonly threadId: string;
  readonly isResumed: boolean;
  readonly remembersTurns: boolean;
  readonly #parts: SessionParts;
  #usage = 0;
  #isStopped = false;
  #ending: Promise<void> | null = null;
  #turns = 0;
  #isInTurn = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { threadId } = parts.request;
    // A thread may be gone.
    this.isResumed = threadId !== null && parts.world.draw.questions.chance(0.9);
    this.threadId = threadId !== null && this.isResumed ? threadId : `thread-${parts.process.pid}`;
    this.remembersTurns = parts.world.draw.agents.chance(0.7);
  }

  get pid(): number {
    return this.#parts.process.pid;
  }

  runTurn(prompt: string, signal?: AbortSignal): Promise<TurnResult> {
    return this.#parts.incarnation.call('agent.runTurn', () => this.#turn(prompt, signal));
  }

  /** During a turn it receives most messages. */
  steer(_text: string): Promise<boolean> {
    const { world, incarnation } = this.#parts;
    return incarnation.call('agent.steer', async () => {
      if (world.draw.questions.chance(0.1)) throw new BatonError('agent_protocol_error', 'It does not take this.');
      return this.#isInTurn;
    });
  }

  stop(): Promise<void> {
    return this.#parts.incarnation.call('agent.stop', () => this.end());
  }

  /** Asks the process to end and waits for that; rejects if it does not end. */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const { world, incarnation, process } = this.#parts;
    const left = await world.endProcess(process);
    if (incarnation.isDead) return never();
    this.#isStopped = true;
    if (left) throw new BatonError('agent_survives', '1 processes of the agent could not be ended.');
  }

  async #turn(prompt: string, signal: AbortSignal | undefined): Promise<TurnResult> {
    const { world, incarnation, process, temper, turnTimeoutMs, request } = this.#parts;
    if (signal?.aborted) return { status: 'cancelled' };
    if (!world.processes.isLive(process)) return exited();
    this.#turns += 1;
    this.#isInTurn = true;
    world.questions.read({ runId: request.runId, issueId: process.issueId }, prompt, this.#turns === 1);
    // A judge reads what the author of the change says, too.
    if (request.isReadOnly !== true)
      world.review?.heard({ runId: request.runId, issueId: process.issueId, isFirst: this.#turns === 1 }, prompt);
    this.tell('turn_started', 'a turn');
    const drawn = drawTurn(world.draw.agents, world.isCalm ? 'good' : temper);
    const { BATON_ROLE: role, BATON_ARTIFACT: artifact } = request.env;
    const isWorker = role === undefined;
    const work = world.review === null || !isWorker ? null : drawBranchWork(world, world.review);
    const script = work === null ? drawn : { ...drawn, moveTo: drawn.moveTo === null ? null : work.moveTo };
    const { promise, resolve } = Promise.withResolvers<TurnResult>();
    const onAbort = (): void => resolve({ status: 'cancelled' });
    const onExit = (): void => {
      if (!process.isUnheard) incarnation.deliver(() => resolve(exited()));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    process.onExit.add(onExit);
    const silence = new Silence(incarnation, turnTimeoutMs, () =>
      resolve({ status: 'failed', error: new BatonError('agent_turn_timeout', 'The simulated agent said nothing.') }),
    );
    const asks = new TurnAsks({ ...this.#parts, onAsking: (isAsking) => silence.pause(isAsking) });
    const ears = { settle: resolve, heard: () => silence.touch(), asks };
    this.#act(role, artifact ?? '', script, work, ears);
    const result = await promise;
    this.#isInTurn = false;
    silence.cancel();
    signal?.removeEventListener('abort', onAbort);
    process.onExit.delete(onExit);
    this.tell(result.status === 'completed' ? 'turn_completed' : 'turn_failed', result.status, this.#use());
    return result;
  }

  /** What the agent does in this turn, by its role. */
  #act(role: string | undefined, artifact: string, script: TurnScript, work: BranchWork | null, ears: TurnEars): void {
    const { world } = this.#parts;
    const { pipeline, review } = world;
    if (role === 'phase' && pipeline !== null) this.#prepare(script, pipeline, artifact, ears);
    else if (role === 'phase_judge' && pipeline !== null)
      this.#judge(script, drawPhaseVerdict(world, pipeline.plan), ears);
    else if (role === 'planner' && world.plan.planner !== null) this.#plan(script, world.plan.planner, ears);
    else if (role === 'judge' && review?.plan.judge) this.#judge(script, drawJudgeTurn(world, review.plan.judge), ears);
    else if ((role === 'intake' || role === 'scanner') && world.tasks !== null) {
      this.#play({ ...script, changes: false, moveTo: null }, null, ears);
      playTaskTurn(this.#parts, world.tasks, script.durationMs);
    } else this.#play(script, work, ears);
  }

  /** Schedules the planned actions of the agent; the end of its process cancels them. */
  #play(script: TurnScript, work: BranchWork | null, { settle, heard, asks }: TurnEars): void {
    const { world, process, incarnation } = this.#parts;
    const { draw, plan } = world;
    if (!world.isCalm) asks.play(drawAsks(draw.questions, plan.agents.asks, script.durationMs));
    const tellAt = (nth: number): void => {
      if (nth * script.eventEveryMs >= script.durationMs && script.end !== 'never') return;
      if (script.silentAfter !== null && nth > script.silentAfter) return;
      world.later(process, script.eventEveryMs, () => {
        if (incarnation.isDead) return;
        incarnation.deliver(() => {
          heard();
          if (script.babbles) this.#babble();
          else this.tell('notification', 'at work', this.#use(), this.#quota());
        });
        tellAt(nth + 1);
      });
    };
    tellAt(1);
    if (script.changes) world.later(process, script.durationMs * 0.5, () => this.#work(work));
    const { moveTo } = script;
    if (moveTo !== null)
      world.later(process, script.durationMs * 0.8, () => {
        if (incarnation.isDead) world.moveAsAgent(process, moveTo);
        else incarnation.deliver(() => void this.#move(moveTo));
      });
    if (script.end !== 'never') world.later(process, script.durationMs, () => this.#finish(script, settle, asks));
  }

  /** A judge moves and commits nothing. */
  #judge(script: TurnScript, { call, spoils }: JudgeTurn, ears: TurnEars): void {
    const { world, request, process, incarnation } = this.#parts;
    this.#play({ ...script, changes: false, moveTo: null }, null, ears);
    world.later(process, script.durationMs * 0.6, () => {
      const trees = world.judgeTrees;
      if (spoils) trees.set(request.workspace, (trees.get(request.workspace) ?? 0) + 1);
      if (call === null || !incarnation.isAlive) return;
      world.tally(`judge: ${call.name}`);
      incarnation.deliver(() => void request.tools.call(call.name, call.input));
    });
  }

  /** A planner says what it wants, perhaps several times; it moves and commits nothing. */
  #plan(script: TurnScript, plan: PlannerPlan, ears: TurnEars): void {
    const { world, request, process, incarnation } = this.#parts;
    const { calls, input, crashes } = drawPlannerTurn(world, plan);
    this.#play({ ...script, changes: false, moveTo: null }, null, ears);
    world.later(process, script.durationMs * 0.6, () => {
      world.tally(`planner: ${input === null ? 'says nothing' : 'plans'}`);
      for (let call = 0; call < calls && incarnation.isAlive; call += 1)
        incarnation.deliver(() => void request.tools.call('create_subtasks', input));
    });
    if (crashes)
      world.later(process, script.durationMs * 0.6 + world.draw.planner.logBetween(1, 5_000), () =>
        world.finishOrphan(process, true),
      );
  }

  /** A phase agent writes its artifact and says so; it moves and commits nothing. */
  #prepare(script: TurnScript, pipeline: PipelineWorld, artifact: string, ears: TurnEars): void {
    const { world, request, process, incarnation } = this.#parts;
    const { writes, call, crashes } = drawPhaseTurn(world, pipeline.plan);
    this.#play({ ...script, changes: false, moveTo: null }, null, ears);
    world.later(process, script.durationMs * 0.5, () => {
      if (writes === null) return;
      pipeline.write(request.workspace, artifact, writes === 'short');
      const checkout = world.review?.checkouts.get(request.workspace);
      const folder = artifact.slice(0, artifact.lastIndexOf('/'));
      if (checkout !== undefined && !pipeline.keptOut.has(`${request.workspace}/${folder}`)) checkout.loose += 1;
    });
    world.later(process, script.durationMs * 0.7, () => {
      world.tally(`phase agent: ${call === null ? 'says nothing' : 'completes'}`);
      if (call !== null && incarnation.isAlive)
        incarnation.deliver(() => void request.tools.call(call.name, call.input));
    });
    // Between the call and its answer, or after it.
    if (crashes)
      world.later(process, script.durationMs * 0.7 + world.draw.pipeline.logBetween(1, 5_000), () =>
        world.finishOrphan(process, true),
      );
  }

  #work(work: BranchWork | null): void {
    const { world, request, incarnation } = this.#parts;
    world.changeWorkspace(request.workspace);
    if (work === null || world.review === null) return;
    workOnBranch(world, world.review, request.workspace, work);
    const mark = world.review.mark();
    if (work.proposes && incarnation.isAlive)
      incarnation.deliver(
        () => void request.tools.call('create_pr', { title: `A change ${mark}`, body: 'It does it.' }),
      );
  }

  #finish(script: TurnScript, settle: (result: TurnResult) => void, asks: TurnAsks): void {
    const { world, process, incarnation } = this.#parts;
    const isCrash = script.end === 'crashed' || script.end === 'vanished';
    process.isUnheard = script.end === 'vanished';
    if (isCrash || incarnation.isDead) world.finishOrphan(process, isCrash);
    else incarnation.deliver(() => asks.whenNone(() => settle(this.#resultOf(script))));
  }

  #resultOf({ end, quotaBackMs }: TurnScript): TurnResult {
    const { world, request, process } = this.#parts;
    if (end === 'completed') return { status: 'completed', message: world.draw.questions.pick(['', 'Done.', 'More.']) };
    if (end !== 'asks') return { status: 'failed', error: refusal(this.#parts, end, quotaBackMs) };
    world.tally('question');
    return { status: 'input_required', question: world.questions.ask(process.issueId, request.runId) };
  }

  /** Sometimes an agent reports how much of its quota is used, mostly that enough is left. */
  #quota(): readonly QuotaWindow[] | undefined {
    const { world, incarnation, account } = this.#parts;
    const { draw, plan, accounts } = world;
    if (world.isCalm || !draw.questions.chance(plan.agents.nearlyOut)) return undefined;
    const window: QuotaWindow = {
      name: draw.questions.pick(['primary', 'secondary']),
      usedPercent: draw.questions.pick([10, 80, 97]),
      windowMinutes: 300,
      resetsAt: incarnation.clock.now() + draw.questions.between(-60_000, 300_000),
    };
    accounts.reported(account, window);
    world.tally('quota reported');
    return [window];
  }

  /** With the tool while a daemon runs; otherwise the agent moves the issue itself. */
  async #move(state: string): Promise<void> {
    const { incarnation, request } = this.#parts;
    const answer = await request.tools.call('update_issue_status', { status: state });
    if (!incarnation.isDead) this.tell(answer.success ? 'tool_call_completed' : 'unsupported_tool_call', answer.output);
  }

  #use(): TokenUsage {
    this.#usage += this.#parts.world.draw.agents.between(1, 1_000);
    const [tokens, hasPrice] = [this.#usage, (this.#parts.world.tasks?.plan.usdPerDay ?? 0) > 0];
    const cost = hasPrice ? { costMicroUsd: tokens } : {};
    return { inputTokens: tokens, outputTokens: tokens, totalTokens: tokens * 2, ...cost };
  }

  /** Totals that shrink, event names that falsely end the turn, invalid text. */
  #babble(): void {
    const { draw } = this.#parts.world;
    const name = draw.agents.pick(['malformed', 'turn_completed', 'session_started', 'other_message'] as const);
    const figure = draw.agents.between(0, 2_000);
    this.tell(name, '\u0000\ud800 {"type":', { inputTokens: figure, outputTokens: 0, totalTokens: figure });
  }

  tell(name: AgentEventName, summary: string, usage?: TokenUsage, quota?: readonly QuotaWindow[]): void {
    const { incarnation, request } = this.#parts;
    if (incarnation.isDead || this.#isStopped) return;
    const event = { name, at: incarnation.clock.now(), pid: this.pid, summary };
    const more = { ...(usage === undefined ? {} : { usage }), ...(quota === undefined ? {} : { quota }) };
    request.onEvent({ ...event, ...more });
  }
}

/** The listeners of a turn. */
interface TurnEars {
  readonly settle: (result: TurnResult) => void;
  readonly heard: () => void;
  readonly asks: TurnAsks;
}

function exited(): TurnResult {
  return { status: 'failed', error: new BatonError('agent_exited', 'The simulated agent ended.') };
}

/** The adapter's own watch over a turn: silence, not duration. */
class Silence {
  readonly #arm: () => { cancel(): void };
  #timer: { cancel(): void };
  #isPaused = false;

  constructor(incarnation: Incarnation, limitMs: number, onSilence: () => void) {
    this.#arm = () => incarnation.clock.schedule(limitMs, onSilence);
    this.#timer = this.#arm();
  }

  touch(): void {
    this.#timer.cancel();
    if (!this.#isPaused) this.#timer = this.#arm();
  }

  /** While a person is asked, silence is not counted. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.touch();
  }

  cancel(): void {
    this.#isPaused = true;
    this.#timer.cancel();
  }
}
