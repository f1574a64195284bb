import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { PoolRunnerInitializer, WorkerRequest } from 'vitest/node';
import { ForksPoolWorker } from 'vitest/node';

/** A fresh worker has 75 MB, and one with all of Baton loaded about 150. */
const mostBytes = 500_000_000;
const pageBytes = 4096;

/**
 * Workers that run one file after another, until they are too large. Node copies the page tables of its whole process
 * for every program that it starts: from 220 MB that takes 2 ms of CPU, from 540 MB 3 ms. A fresh worker takes about 2.5 s, mostly
 * to load Baton again, so it pays only after thousands of such starts.
 */
export const smallWorkers: PoolRunnerInitializer = {
  name: 'small-forks',
  createPoolWorker: (options) => new SmallWorker(options),
};

class SmallWorker extends ForksPoolWorker {
  override readonly name = smallWorkers.name;
  #isSmall: boolean | null = null;

  override send(message: WorkerRequest): void {
    this.#isSmall = null;
    super.send(message);
  }

  /** The pool asks twice between two files and relies on the same answer. */
  canReuse(): boolean {
    // The class keeps its process to itself.
    const process: ChildProcess = Reflect.get(this, 'fork');
    this.#isSmall ??= residentBytes(process.pid) < mostBytes;
    return this.#isSmall;
  }
}

/** 0 where there is no /proc. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes;
  } catch {
    return 0;
  }
}
