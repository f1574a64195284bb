/** How much a line matters; the four that `Logger` has. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** pino's numbers for the levels. */
export const severityOf: Readonly<Record<LogLevel, number>> = { debug: 20, info: 30, warn: 40, error: 50 };
