import type { LogEvent } from '../../src/core/log-events.ts';
import type { LogFields, Logger } from '../../src/core/logger.ts';

interface MemoryLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: LogEvent;
  /** The fields of the call and of every `child` before it. */
  readonly fields: LogFields;
}

export interface MemoryLogger extends Logger {
  /** Everything logged so far, also through children; the oldest first. */
  readonly lines: readonly MemoryLine[];
  /** The codes alone, for looking at an order of events. */
  events(): LogEvent[];
}

/** A logger that keeps its lines for a test. */
export function memoryLogger(): MemoryLogger {
  const lines: MemoryLine[] = [];
  const loggerWith = (bound: LogFields): Logger => {
    const keep =
      (level: MemoryLine['level']) =>
      (event: LogEvent, fields: LogFields = {}): void =>
        void lines.push({ level, event, fields: { ...bound, ...fields } });
    return {
      debug: keep('debug'),
      info: keep('info'),
      warn: keep('warn'),
      error: keep('error'),
      child: (fields) => loggerWith({ ...bound, ...fields }),
    };
  };
  return { ...loggerWith({}), lines, events: () => lines.map(({ event }) => event) };
}
