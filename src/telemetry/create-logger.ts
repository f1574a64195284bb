import { type LevelWithSilent, pino } from 'pino';
import type { Clock } from '../clock/clock.ts';
import { type LogEvent, logEvents } from '../core/log-events.ts';
import type { LogFields, Logger } from '../core/logger.ts';
import { GuardedSink } from './guarded-sink.ts';
import { escapeInvisible } from './harmless-text.ts';
import { openLogFile } from './log-file.ts';
import { type LogLevel, severityOf } from './log-level.ts';
import { openLogTerminal, type TerminalStream } from './log-terminal.ts';
import { plainFields } from './plain-value.ts';

export interface CreateLoggerOptions {
  readonly clock: Clock;
  /** The rotating file `<logsRoot>/log/baton.log`; null: none. */
  readonly file: {
    readonly logsRoot: string;
    readonly level?: LogLevel;
    readonly maxBytes?: number;
    readonly maxFiles?: number;
  } | null;
  /** Readable lines on a TTY, otherwise JSON lines; null when something else uses the terminal. */
  readonly terminal: {
    readonly stream: TerminalStream;
    readonly level?: LogLevel;
    /** False where NO_COLOR is set. */
    readonly color?: boolean;
  } | null;
  /** How long a failing sink is skipped before it is tried again. */
  readonly retryAfterMs?: number;
}

export interface CreatedLogger {
  readonly logger: Logger;
  /** Waits for pending lines. A later line is still written. */
  close(): Promise<void>;
}

interface Branch {
  readonly level: LogLevel;
  readonly sink: GuardedSink;
}

/** Long enough that a full disk costs nothing, short enough that little is lost once the disk has space again. */
const defaultRetryAfterMs = 10_000;

/**
 * The log of the daemon: one event for each line, to a file and to the terminal. Neither a value that cannot be printed nor
 * a sink that cannot be written throws into the caller.
 */
export function createLogger(options: CreateLoggerOptions): CreatedLogger {
  const branches = openBranches(options);
  const writer = pino(
    {
      base: null,
      level: lowestLevel(branches),
      formatters: { level: (level) => ({ level }) },
      timestamp: () => `,"time":"${isoTime(options.clock)}"`,
    },
    destinationOf(branches),
  );

  // `bound` is already plain.
  const loggerWith = (bound: LogFields): Logger => {
    const write = (level: LogLevel, event: LogEvent, fields?: LogFields): void => {
      if (!writer.isLevelEnabled(level)) return;
      // Merged here, because pino's children write a field twice when both have it.
      writer[level]({ event, ...bound, ...plainFields(fields, level) }, logEvents[event]);
    };
    return {
      debug: (event, fields) => write('debug', event, fields),
      info: (event, fields) => write('info', event, fields),
      warn: (event, fields) => write('warn', event, fields),
      error: (event, fields) => write('error', event, fields),
      child: (fields) => loggerWith({ ...bound, ...plainFields(fields, 'info') }),
    };
  };

  return {
    logger: loggerWith({}),
    close: async () => {
      for (const { sink } of branches) await sink.close();
    },
  };
}

/** Opens the sinks so that each reports its failures on the other. */
function openBranches({ clock, file, terminal, retryAfterMs = defaultRetryAfterMs }: CreateLoggerOptions): Branch[] {
  const guard = { clock, retryAfterMs, notice: (event: LogEvent, fields: LogFields) => notice(clock, event, fields) };
  const branches: Branch[] = [];
  const reportToOthers = (reporter: () => GuardedSink | undefined) => (event: LogEvent, fields: LogFields) => {
    for (const { sink } of branches) if (sink !== reporter()) sink.write(notice(clock, event, fields));
  };
  if (file !== null) {
    const report = reportToOthers(() => sink);
    const log = openLogFile({ ...file, clock, report: reportToOthers(() => undefined) });
    const sink: GuardedSink = new GuardedSink(log, { ...guard, report });
    branches.push({ level: file.level ?? 'debug', sink });
  }
  if (terminal !== null) {
    const report = reportToOthers(() => sink);
    const sink: GuardedSink = new GuardedSink(openLogTerminal({ ...terminal, clock }), { ...guard, report });
    branches.push({ level: terminal.level ?? 'info', sink });
  }
  return branches;
}

/** pino leaves the level of the line on its destination when the destination asks for it with this symbol. */
function destinationOf(branches: readonly Branch[]) {
  return {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string): void {
      const text = escapeInvisible(line);
      for (const { level, sink } of branches) if (this.lastLevel >= severityOf[level]) sink.write(text);
    },
  };
}

function lowestLevel(branches: readonly Branch[]): LevelWithSilent {
  const levels = branches.map(({ level }) => level);
  return levels.sort((left, right) => severityOf[left] - severityOf[right])[0] ?? 'silent';
}

/** A line of the log about itself, in the shape that pino gives the others. */
function notice(clock: Clock, event: LogEvent, fields: LogFields): string {
  const line = { level: 'warn', time: isoTime(clock), event, ...plainFields(fields, 'warn'), msg: logEvents[event] };
  return `${escapeInvisible(JSON.stringify(line))}\n`;
}

function isoTime(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
