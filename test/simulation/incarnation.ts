import type { Clock, Timer } from '../../src/clock/clock.ts';

/**
 * When an incarnation is killed: before its n-th call into any part, or when that call is answered; null: never. With `steps`
 * only the calls of these names count.
 */
export type Fate = {
  readonly call: number;
  readonly when: 'before' | 'after';
  readonly steps?: ReadonlySet<string>;
} | null;

export interface IncarnationParts {
  readonly name: string;
  /** The daemon: its state folder, its owner name, its marker on processes. */
  readonly daemon: string;
  /** The machine it runs on: processes are found and ended only there. */
  readonly machine: string;
  readonly clock: Clock;
  /** How far its wall clock is from the world's. */
  readonly skewMs: number;
  readonly fate: Fate;
  readonly onKilled: (how: string) => void;
}

/**
 * One incarnation of a daemon, from its start to its kill or its end. Every call goes through `call`, every timer through
 * `clock`, everything else that reaches it through `deliver`.
 *
 * What must hold: after the kill it does nothing more. A call in progress is never answered,
 * a timer never fires, and a transaction in its middle is rolled back (`callInside`). The memory of the daemon is still
 * there in this process, which does not matter, because it can reach nothing. While it is frozen the same holds, but everything
 * that arrives is delivered when it resumes, all at once.
 */
export class Incarnation {
  readonly name: string;
  readonly daemon: string;
  readonly machine: string;
  readonly clock: Clock;
  fate: Fate;
  isDead = false;
  /** Its start is complete. */
  isUp = false;
  calls = 0;
  readonly #world: Clock;
  readonly #onKilled: (how: string) => void;
  readonly #timers = new Set<Timer>();
  #frozen: (() => void)[] | null = null;

  constructor(parts: IncarnationParts) {
    this.name = parts.name;
    this.daemon = parts.daemon;
    this.machine = parts.machine;
    this.fate = parts.fate;
    this.#world = parts.clock;
    this.#onKilled = parts.onKilled;
    this.clock = {
      now: () => parts.clock.now() + parts.skewMs,
      monotonic: () => parts.clock.monotonic(),
      schedule: (delayMs, action) => this.#schedule(delayMs, action),
    };
  }

  get isAlive(): boolean {
    return !this.isDead;
  }

  get isFrozen(): boolean {
    return this.#frozen !== null && !this.isDead;
  }

  freeze(): void {
    this.#frozen ??= [];
  }

  /** Delivers everything that arrived meanwhile, in a random order. */
  thaw(): void {
    const waiting = this.#frozen ?? [];
    this.#frozen = null;
    for (const act of waiting) this.#world.schedule(0, () => this.deliver(act));
  }

  /** Delivers something to the daemon: now, when it resumes, or never. */
  deliver(act: () => void): void {
    if (this.isDead) return;
    if (this.#frozen === null) act();
    else this.#frozen.push(act);
  }

  kill(how: string): void {
    if (this.isDead) return;
    this.end();
    this.#onKilled(how);
  }

  /** The process has ended by itself: unfinished work is lost as after a kill. */
  end(): void {
    this.isDead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** A call into a part. It is never answered if the incarnation ends before, during or with it. */
  async call<T>(name: string, work: () => Promise<T>): Promise<T> {
    const isLast = this.#begin(name);
    if (this.isDead) return never();
    try {
      const answer = await work();
      if (isLast) this.kill(`after ${name}`);
      await this.#awake();
      return this.isDead ? never() : answer;
    } catch (error) {
      if (isLast) this.kill(`after ${name}`);
      await this.#awake();
      return this.isDead ? never() : Promise.reject(error);
    }
  }

  /** A call inside a transaction: at a kill it fails instead of hanging, so that the transaction is rolled back. */
  async callInside<T>(name: string, work: () => Promise<T>): Promise<T> {
    const isLast = this.#begin(name);
    if (this.isDead) throw new Error('killed');
    const answer = await work();
    if (isLast) this.kill(`after ${name}`);
    if (this.isDead) throw new Error('killed');
    return answer;
  }

  /** Counts the call; true if the incarnation ends with its answer. */
  #begin(name: string): boolean {
    if (this.fate?.steps?.has(name) === false) return false;
    this.calls += 1;
    if (this.fate === null || this.calls < this.fate.call) return false;
    if (this.fate.when === 'before') this.kill(`before ${name}`);
    return this.fate.when === 'after';
  }

  async #awake(): Promise<void> {
    if (this.#frozen !== null) await new Promise<void>((resolve) => this.deliver(resolve));
  }

  #schedule(delayMs: number, action: () => void): Timer {
    if (this.isDead) return { cancel: () => {} };
    let isCancelled = false;
    const timer = this.#world.schedule(delayMs, () => {
      this.#timers.delete(timer);
      this.deliver(() => {
        if (!isCancelled) action();
      });
    });
    this.#timers.add(timer);
    return {
      cancel: () => {
        isCancelled = true;
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }
}

export function never<T>(): Promise<T> {
  return new Promise(() => {});
}
