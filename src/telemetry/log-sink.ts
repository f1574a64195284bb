/** Somewhere a line goes: the file, the terminal. */
export interface LogSink {
  /** As the log names it when it fails. */
  readonly name: string;
  /** Takes one JSON line with its line feed. Never throws: `done` tells, at once or later, whether it got through. */
  write(line: string, done: (error: unknown) => void): void;
  close(): Promise<void>;
}
