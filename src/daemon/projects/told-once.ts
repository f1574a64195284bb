import type { LogEvent } from '../../core/log-events.ts';
import type { LogFields, Logger } from '../../core/logger.ts';

/** More different lines than any start logs; beyond this, lines are logged again. */
const mostRemembered = 200;

export interface ToldOnce {
  readonly logger: Logger;
  /** From now on every line is logged, however often it comes. */
  tellAll(): void;
}

/** The logger of a project that is started again and again: it logs each line once. */
export function toldOnce(logger: Logger): ToldOnce {
  const told = new Set<string>();
  let isOpen = false;
  const isNew = (level: string, event: LogEvent, fields: LogFields | undefined): boolean => {
    if (isOpen) return true;
    const line = textOf([level, event, fields]);
    if (told.has(line)) return false;
    if (told.size >= mostRemembered) told.clear();
    told.add(line);
    return true;
  };
  const over = (inner: Logger): Logger => {
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
      child: (fields) => over(inner.child(fields)),
    };
  };
  return {
    logger: over(logger),
    tellAll: () => {
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
