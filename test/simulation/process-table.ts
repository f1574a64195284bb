import type { Timer } from '../../src/clock/clock.ts';

/** One agent's process in the simulated machine. It outlives the daemon that started it. */
export interface SimulatedProcess {
  readonly pid: number;
  readonly startTime: number;
  readonly runId: string;
  readonly issueId: string;
  /** The daemon that started it, whose marker it carries, and the incarnation. */
  readonly daemon: string;
  readonly incarnation: string;
  /** The machine it is on: only a daemon there can find and end it. */
  readonly machine: string;
  /** No signal ends it; it ends by itself at some time. */
  survives: boolean;
  /** Its end is not reported. */
  isUnheard: boolean;
  readonly timers: Set<Timer>;
  readonly onExit: Set<() => void>;
}

/** The processes of all machines. A process that was asked to end is alive until it is gone. */
export class ProcessTable {
  readonly #live = new Map<number, SimulatedProcess>();
  readonly #now: () => number;
  #nextPid = 1_000;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#live.size;
  }

  spawn(of: Omit<SimulatedProcess, 'pid' | 'startTime' | 'isUnheard' | 'timers' | 'onExit'>): SimulatedProcess {
    const process = {
      ...of,
      pid: this.#nextPid++,
      startTime: this.#now(),
      isUnheard: false,
      timers: new Set<Timer>(),
      onExit: new Set<() => void>(),
    };
    this.#live.set(process.pid, process);
    return process;
  }

  /** It is gone: its planned actions do not happen. */
  exit(process: SimulatedProcess): void {
    if (!this.#live.delete(process.pid)) return;
    for (const timer of process.timers) timer.cancel();
    for (const told of process.onExit) told();
  }

  isLive(process: SimulatedProcess): boolean {
    return this.#live.has(process.pid);
  }

  all(): SimulatedProcess[] {
    return [...this.#live.values()];
  }

  ofIssue(issueId: string): SimulatedProcess[] {
    return this.all().filter((process) => process.issueId === issueId);
  }

  ofRun(runId: string): SimulatedProcess[] {
    return this.all().filter((process) => process.runId === runId);
  }
}
