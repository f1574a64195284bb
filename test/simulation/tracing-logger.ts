import type { LogFields, Logger } from '../../src/core/logger.ts';
import type { Incarnation } from './incarnation.ts';
import type { Trace } from './trace.ts';

/** Silent unless the trace is printed. */
export function tracingLogger(trace: Trace, incarnation: Incarnation): Logger {
  const write = (message: string, fields: LogFields = {}): void => {
    if (!trace.prints || incarnation.isDead) return;
    const { issue_id, run_id, error, ...rest } = fields;
    const why = error instanceof Error ? ` (${error.message})` : '';
    const more = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
    trace.remark(`${incarnation.name}: ${message} ${issue_id ?? ''} ${run_id ?? ''}${why}${more}`);
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  return logger;
}
