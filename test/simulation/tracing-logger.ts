import type { LogFields, Logger } from '../../src/core/logger.ts';
import type { Life } from './life.ts';
import type { Trace } from './trace.ts';

/** Silent, unless somebody reads the trace. */
export function tracingLogger(trace: Trace, life: Life): Logger {
  const write = (message: string, fields: LogFields = {}): void => {
    if (!trace.prints || life.isDead) return;
    const { issue_id, run_id, error, ...rest } = fields;
    const why = error instanceof Error ? ` (${error.message})` : '';
    const more = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
    trace.remark(`${life.name}: ${message} ${issue_id ?? ''} ${run_id ?? ''}${why}${more}`);
  };
  const logger: Logger = { debug: write, info: write, warn: write, error: write, child: () => logger };
  return logger;
}
