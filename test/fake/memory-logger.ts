import type { LogFields, Logger } from '../../src/core/logger.ts';

interface MemoryLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  /** The fields of the call and of every `child` before it. */
  readonly fields: LogFields;
}

export interface MemoryLogger extends Logger {
  /** Everything logged so far, also through children; the oldest first. */
  readonly lines: readonly MemoryLine[];
  /** The messages alone, for looking at an order of events. */
  messages(): string[];
}

/** A logger that keeps its lines for a test to look at. */
export function memoryLogger(): MemoryLogger {
  const lines: MemoryLine[] = [];
  const loggerWith = (bound: LogFields): Logger => {
    const keep =
      (level: MemoryLine['level']) =>
      (message: string, fields: LogFields = {}): void =>
        void lines.push({ level, message, fields: { ...bound, ...fields } });
    return {
      debug: keep('debug'),
      info: keep('info'),
      warn: keep('warn'),
      error: keep('error'),
      child: (fields) => loggerWith({ ...bound, ...fields }),
    };
  };
  return { ...loggerWith({}), lines, messages: () => lines.map(({ message }) => message) };
}
