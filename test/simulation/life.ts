import type { Clock, Timer } from '../../src/clock/clock.ts';

/** When a life ends by force: before it makes its n-th call into any part, or when that call is answered; or never. */
export type Fate = { readonly call: number; readonly when: 'before' | 'after' } | null;

export interface LifeParts {
  readonly name: string;
  /** The daemon whose life it is: its state folder, its owner name, its marker on processes. */
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
 * One life of a daemon, from its start to its kill or its end. Every part it has goes through `call`, every timer through
 * `clock`, everything else that reaches it through `deliver`.
 *
 * What must hold: from the instant of the kill nothing of it acts any more. A call that was on its way is never answered,
 * a timer never fires, and a transaction in its middle is rolled back (`callInside`). The memory of the daemon is still
 * there in this process, and that does not matter: it can reach nothing. While it is frozen the same holds, but what came
 * meanwhile comes when it is thawed, all at once.
 */
export class Life {
  readonly name: string;
  readonly daemon: string;
  readonly machine: string;
  readonly clock: Clock;
  fate: Fate;
  isDead = false;
  /** Its start is over: it looks after its work. */
  isUp = false;
  calls = 0;
  readonly #world: Clock;
  readonly #onKilled: (how: string) => void;
  readonly #timers = new Set<Timer>();
  #frozen: (() => void)[] | null = null;

  constructor(parts: LifeParts) {
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

  /** All that came meanwhile comes now, in a drawn order. */
  thaw(): void {
    const waiting = this.#frozen ?? [];
    this.#frozen = null;
    for (const act of waiting) this.#world.schedule(0, () => this.deliver(act));
  }

  /** Something reaches the daemon: now, when it is thawed, or never. */
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

  /** The process has ended by itself: what it had not finished is as gone as after a kill. */
  end(): void {
    this.isDead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** A call into a part. It is never answered when the life ends before, in or with it. */
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

  /** Counts the call; true when the life ends with its answer. */
  #begin(name: string): boolean {
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
