import type { OutputLine } from '../output/line-framer.ts';

/** A program that Baton started, from its start until all its processes are gone. */
export interface LiveProcess {
  /** As the machine sees it, also under a pid namespace. */
  readonly pid: number;
  /** Tells this process from a later one with the same pid; null where the platform does not report it. */
  readonly startTime: number | null;
  /**
   * Standard output, for one reader. While it does not pull, the child waits. Ends with the output, or soon after the
   * exit when something else holds the pipe open.
   */
  readonly lines: AsyncIterableIterator<OutputLine>;
  /** Settles at the exit of the program itself, even if its children live on. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** The end of the error output so far; complete once `stop` has resolved. */
  stderrTail(): string;
  /**
   * Resolves when the text is with the operating system; rejects with `process_stdin_closed` when the program exits or
   * has closed its input. A program that does not read makes it wait, hence the signal; the text may arrive even so.
   */
  write(text: string, signal?: AbortSignal): Promise<void>;
  closeStdin(): void;
  /** Ends the program and everything it started. The second call gets the promise of the first. Never rejects. */
  stop(options?: StopOptions): Promise<StopReport>;
}

/** In a pid namespace a program that a signal ended has the code 128 + signal, as in a shell. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How long each rung of the ladder waits for the exit before the next one. */
export interface StopOptions {
  /** After closing standard input; zero for programs that do not end on it. */
  readonly closeStdinMs?: number;
  readonly terminateMs?: number;
  /** After KILL to the group; longer only when the kernel holds the process. */
  readonly killMs?: number;
  /** The time of survivors outside the group between TERM and KILL. */
  readonly survivorGraceMs?: number;
}

export interface StopReport {
  readonly how: 'already_exited' | 'closed_stdin' | 'terminated' | 'killed';
  readonly survivorsEnded: number;
  /** Processes that could not be ended. Not zero: the run may still be alive, and no other run may replace it. */
  readonly survivorsLeft: number;
}
