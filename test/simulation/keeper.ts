import { BatonError } from '../../src/core/baton-error.ts';
import { composeDaemon } from './compose-daemon.ts';
import { type Fate, Incarnation } from './incarnation.ts';
import { deliverySteps } from './review/delivery-steps.ts';
import { githubSteps } from './review/github-client.ts';
import type { RunningDaemon, World } from './world.ts';

/** How far the wall clock of a daemon may be from that of the world. */
export const largestSkewMs = 30_000;

/** Keeps a daemon running on one machine, like a service manager: restarts it whenever it ended. */
export class Keeper {
  readonly #world: World;
  readonly #daemon: string;
  readonly #machine: string;
  readonly #skewMs: number;
  #incarnations = 0;
  #isOver = false;
  current: RunningDaemon | null = null;

  constructor(world: World, daemon: string) {
    this.#world = world;
    this.#daemon = daemon;
    this.#machine = world.plan.machines === 2 ? `machine-${daemon}` : 'machine';
    this.#skewMs = world.plan.daemons > 1 ? world.draw.lives.between(-largestSkewMs, largestSkewMs) : 0;
    world.nowAndThen(world.draw.lives, world.plan.incarnations.stoppedPerMinute, () => {
      world.count('graceful stop');
      void this.stopDaemon();
    });
  }

  start(): void {
    const { clock, draw, plan, trace } = this.#world;
    this.#incarnations += 1;
    const name = `${this.#daemon}${this.#incarnations}`;
    const incarnation = new Incarnation({
      name,
      daemon: this.#daemon,
      machine: this.#machine,
      clock,
      skewMs: this.#skewMs,
      fate: this.#drawFate(),
      onKilled: (how) => {
        trace.tell('killed', name, how);
        this.#world.count('kill');
        if (deliverySteps.has(how.split(' ')[1] ?? '')) this.#world.tally(`killed ${how}`);
        if (plan.machines === 2) this.#losePower();
        this.#again();
      },
    });
    trace.tell('daemon starts', name);
    if (incarnation.fate !== null && draw.lives.chance(0.3)) this.#killAtATime(incarnation);
    this.#world.count(this.#incarnations === 1 ? 'start' : 'restart');
    const orchestrator = composeDaemon(this.#world, incarnation);
    this.current = { incarnation, orchestrator };
    this.#world.incarnations.set(name, this.current);
    orchestrator.start().then(
      () => {
        incarnation.isUp = true;
        this.#world.disturbedAt = this.#world.now;
      },
      (error) => this.#couldNotStart(incarnation, error),
    );
    // A drain, or a stop.
    void orchestrator.closed.then(() => this.#closed(incarnation));
  }

  /** Ends the daemon in good order; resolves when it has ended. */
  async stopDaemon(): Promise<void> {
    const stopped = this.current;
    if (stopped === null || !stopped.incarnation.isAlive) return;
    this.#world.trace.tell('daemon is stopped', stopped.incarnation.name);
    await new Promise<void>((resolve) => stopped.incarnation.deliver(resolve));
    await stopped.orchestrator.stop();
  }

  /** Stops drawing kills, also for the current incarnation. */
  calm(): void {
    if (this.current !== null) this.current.incarnation.fate = null;
  }

  /** Does not restart after the current incarnation. */
  retire(): void {
    this.#isOver = true;
  }

  /**
   * A separate machine dies with its daemon: agents that survive a killed daemon where no other daemon reaches them, for
   * longer than its lease, are outside Baton's promise.
   */
  #losePower(): void {
    const { processes } = this.#world;
    for (const process of processes.all()) if (process.machine === this.#machine) processes.exit(process);
  }

  #closed(incarnation: Incarnation): void {
    if (!incarnation.isAlive) return;
    incarnation.end();
    this.#world.trace.tell('daemon has ended', incarnation.name);
    this.#again();
  }

  /** Like the command line: a daemon that cannot start reports the error and ends. */
  #couldNotStart(incarnation: Incarnation, error: unknown): void {
    if (!(error instanceof BatonError))
      this.#world.broke('no_crash', null, `the start of ${incarnation.name}: ${error}`);
    this.#world.trace.tell('daemon could not start', incarnation.name, String(error));
    if (!incarnation.isAlive) return;
    incarnation.end();
    this.#again();
  }

  #again(): void {
    const { clock, draw, isCalm } = this.#world;
    if (this.#isOver) return;
    clock.schedule(isCalm ? 1_000 : draw.lives.logBetween(1, 120_000), () => {
      if (!this.#isOver) this.start();
    });
  }

  /** Kills at a time instead of at a call. */
  #killAtATime(incarnation: Incarnation): void {
    const { clock, draw } = this.#world;
    incarnation.fate = null;
    clock.schedule(draw.lives.logBetween(100, 600_000), () => {
      if (incarnation.isAlive && !this.#world.isCalm) incarnation.kill('at a time');
    });
  }

  #drawFate(): Fate {
    const { draw, plan, isCalm } = this.#world;
    if (isCalm || !draw.lives.chance(plan.incarnations.killed)) return null;
    const call = draw.lives.logBetween(1, plan.incarnations.longestCalls);
    const when = draw.lives.chance(0.5) ? 'before' : 'after';
    if (plan.review === null || !draw.review.chance(plan.review.killsAtDelivery)) return { call, when };
    const likely = plan.review.github === null ? [...deliverySteps] : [...deliverySteps, ...githubSteps];
    const steps = new Set([draw.review.pick(likely)]);
    return { call: draw.review.pick([1, 1, 2, 3]), when, steps };
  }
}
