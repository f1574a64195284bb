import type { LogEvent } from '../../core/log-events.ts';
import type { LogFields, Logger } from '../../core/logger.ts';

/** The most different lines to remember, more than any start logs. After that, lines are logged again. */
const mostRemembered = 200;

export interface OnceLogger {
  readonly logger: Logger;
  /** From now on it logs every line, also repeated ones. */
  logAll(): void;
}

/** The logger of a project whose start is retried: it logs each line once. */
export function logOnce(logger: Logger): OnceLogger {
  const logged = new Set<string>();
  let isOpen = false;
  const isNew = (level: string, event: LogEvent, fields: LogFields | undefined): boolean => {
    if (isOpen) return true;
    const line = textOf([level, event, fields]);
    if (logged.has(line)) return false;
    if (logged.size >= mostRemembered) logged.clear();
    logged.add(line);
    return true;
  };
  const wrap = (inner: Logger): Logger => {
    const write =
      (level: 'debug' | 'info' | 'warn' | 'error') =>
      (event: LogEvent, fields?: LogFields): void => {
        if (isNew(level, event, fields)) inner[level](event, fields);
      };
    return {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      child: (fields) => wrap(inner.child(fields)),
    };
  };
  return {
    logger: wrap(logger),
    logAll: () => {
      isOpen = true;
    },
  };
}

/** Logging never throws, whatever the fields contain. */
function textOf(line: readonly unknown[]): string {
  try {
    return JSON.stringify(line);
  } catch {
    return String(line);
  }
}
