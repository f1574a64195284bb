import type { OutputLine } from '../output/line-framer.ts';

/** A program that Baton started, from its start until all its processes are gone. */
export interface LiveProcess {
  /** The pid outside of any pid namespace. */
  readonly pid: number;
  /** Distinguishes this process from a later one with the same pid; null where the platform does not report it. */
  readonly startTime: number | null;
  /**
   * Standard output, for one reader. While the reader does not pull, the child waits. Ends with the output, or soon
   * after the exit if another process keeps the pipe open.
   */
  readonly lines: AsyncIterableIterator<OutputLine>;
  /** Resolves at the exit of the program itself, even if its children are still alive. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** The end of the error output so far; complete once `stop` or `stderrClosed` has resolved. */
  stderrTail(): string;
  /** Resolves when all error output is read. Another process may keep the pipe open after the exit. Never rejects. */
  readonly stderrClosed: Promise<void>;
  /**
   * Resolves when the operating system has taken the text. Rejects with `process_stdin_closed` when the program exits or
   * has closed its input. Waits while the program does not read; abort the signal to stop waiting. The program may still
   * receive the text after an abort.
   */
  write(text: string, signal?: AbortSignal): Promise<void>;
  closeStdin(): void;
  /** Ends the program and everything it started. A second call returns the promise of the first. Never rejects. */
  stop(options?: StopOptions): Promise<StopReport>;
}

/** In a pid namespace, a program that was ended by a signal has the code 128 + signal, as in a shell. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How long each rung of the ladder waits for the exit before the next one. */
export interface StopOptions {
  /** After closing standard input; zero for programs that do not end on it. */
  readonly closeStdinMs?: number;
  readonly terminateMs?: number;
  /** After KILL to the group. A process is still alive after KILL only while the kernel keeps it busy. */
  readonly killMs?: number;
  /** Between TERM and KILL to survivors outside the group. */
  readonly survivorGraceMs?: number;
  /** Ends the program and its group or namespace alone. Other processes of the run continue, until the run ends. */
  readonly keepsOthers?: boolean;
}

export interface StopReport {
  readonly how: 'already_exited' | 'closed_stdin' | 'terminated' | 'killed';
  readonly survivorsEnded: number;
  /** Processes that could not be ended. While this is not zero, the run may be alive and no other run may replace it. */
  readonly survivorsLeft: number;
}
