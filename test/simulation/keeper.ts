import { BatonError } from '../../src/core/baton-error.ts';
import { composeDaemon } from './compose-daemon.ts';
import { type Fate, Life } from './life.ts';
import type { Incarnation, World } from './world.ts';

/** How far the wall clock of a daemon may be from that of the world. */
export const largestSkewMs = 30_000;

/** Keeps a daemon running on one machine, as a service manager does: whenever it ended, a new life follows. */
export class Keeper {
  readonly #world: World;
  readonly #daemon: string;
  readonly #machine: string;
  readonly #skewMs: number;
  #lives = 0;
  #isOver = false;
  current: Incarnation | null = null;

  constructor(world: World, daemon: string) {
    this.#world = world;
    this.#daemon = daemon;
    this.#machine = world.plan.machines === 2 ? `machine-${daemon}` : 'machine';
    this.#skewMs = world.plan.daemons > 1 ? world.draw.lives.between(-largestSkewMs, largestSkewMs) : 0;
    world.nowAndThen(world.draw.lives, world.plan.lives.stoppedPerMinute, () => {
      world.count('graceful stop');
      void this.stopDaemon();
    });
  }

  start(): void {
    const { clock, draw, plan, trace } = this.#world;
    this.#lives += 1;
    const name = `${this.#daemon}${this.#lives}`;
    const life = new Life({
      name,
      daemon: this.#daemon,
      machine: this.#machine,
      clock,
      skewMs: this.#skewMs,
      fate: this.#drawFate(),
      onKilled: (how) => {
        trace.tell('killed', name, how);
        this.#world.count('kill');
        if (plan.machines === 2) this.#losePower();
        this.#again();
      },
    });
    trace.tell('daemon starts', name);
    if (life.fate !== null && draw.lives.chance(0.3)) this.#killAtATime(life);
    this.#world.count(this.#lives === 1 ? 'start' : 'restart');
    const orchestrator = composeDaemon(this.#world, life);
    this.current = { life, orchestrator };
    this.#world.lives.set(name, this.current);
    orchestrator.start().then(
      () => {
        life.isUp = true;
        this.#world.disturbedAt = this.#world.now;
      },
      (error) => this.#couldNotStart(life, error),
    );
    // A drain, or a stop.
    void orchestrator.closed.then(() => this.#closed(life));
  }

  /** Ends the daemon in good order; resolves when it has ended. */
  async stopDaemon(): Promise<void> {
    const stopped = this.current;
    if (stopped === null || !stopped.life.isAlive) return;
    this.#world.trace.tell('daemon is stopped', stopped.life.name);
    await new Promise<void>((resolve) => stopped.life.deliver(resolve));
    await stopped.orchestrator.stop();
  }

  /** No kill is drawn any more, also not for the life that runs. */
  calm(): void {
    if (this.current !== null) this.current.life.fate = null;
  }

  /** Nothing follows the life that runs. */
  retire(): void {
    this.#isOver = true;
  }

  /**
   * A machine of its own goes with its daemon: agents that outlive a killed daemon where nobody else reaches them, for
   * longer than its lease, are beyond what Baton promises.
   */
  #losePower(): void {
    const { processes } = this.#world;
    for (const process of processes.all()) if (process.machine === this.#machine) processes.exit(process);
  }

  #closed(life: Life): void {
    if (!life.isAlive) return;
    life.end();
    this.#world.trace.tell('daemon has ended', life.name);
    this.#again();
  }

  /** As the command line does it: what cannot start says so and ends. */
  #couldNotStart(life: Life, error: unknown): void {
    if (!(error instanceof BatonError)) this.#world.broke('no_crash', null, `the start of ${life.name}: ${error}`);
    this.#world.trace.tell('daemon could not start', life.name, String(error));
    if (!life.isAlive) return;
    life.end();
    this.#again();
  }

  #again(): void {
    const { clock, draw, isCalm } = this.#world;
    if (this.#isOver) return;
    clock.schedule(isCalm ? 1_000 : draw.lives.logBetween(1, 120_000), () => {
      if (!this.#isOver) this.start();
    });
  }

  /** Not at a call but at a time, whatever it is about then. */
  #killAtATime(life: Life): void {
    const { clock, draw } = this.#world;
    life.fate = null;
    clock.schedule(draw.lives.logBetween(100, 600_000), () => {
      if (life.isAlive && !this.#world.isCalm) life.kill('at a time');
    });
  }

  #drawFate(): Fate {
    const { draw, plan, isCalm } = this.#world;
    if (isCalm || !draw.lives.chance(plan.lives.killed)) return null;
    const call = draw.lives.logBetween(1, plan.lives.longestCalls);
    return { call, when: draw.lives.chance(0.5) ? 'before' : 'after' };
  }
}
