import type { Logger } from '../core/logger.ts';

/** For commands that only look: what is wrong ends the command and is told there. */
export const quietLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => quietLogger,
};
