import type { Logger } from '../core/logger.ts';

/** For commands that only read: a problem ends the command, which reports it. */
export const quietLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => quietLogger,
};
