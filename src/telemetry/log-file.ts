import path from 'node:path';
import type { Clock } from '../clock/clock.ts';
import type { LogEvent } from '../core/log-events.ts';
import type { LogFields } from '../core/logger.ts';
import type { LogSink } from './guarded-sink.ts';
import { RotatingFile } from './rotating-file.ts';

export interface LogFileOptions {
  readonly clock: Clock;
  readonly logsRoot: string;
  readonly maxBytes?: number;
  readonly maxFiles?: number;
  /** Writes a line about the log itself to every sink, this one included. */
  report(event: LogEvent, fields: LogFields): void;
}

/** Symphony's log wraps at the same size and count (symphony.md 1.16). */
const defaultMaxBytes = 10 * 1024 * 1024;
const defaultMaxFiles = 5;

/** The sink under `--logs-root`: `log/baton.log`, then `log/baton.log.1` and so on, the newest first. */
export function openLogFile({ clock, logsRoot, maxBytes, maxFiles, report }: LogFileOptions): LogSink {
  const file = new RotatingFile({
    path: path.join(logsRoot, 'log', 'baton.log'),
    maxBytes: maxBytes ?? defaultMaxBytes,
    maxFiles: maxFiles ?? defaultMaxFiles,
    now: () => clock.now(),
    onRotationFailure: (error) => report('log_rotation_failed', { error }),
  });
  return {
    name: 'file',
    write(line, done) {
      try {
        file.append(line);
      } catch (error) {
        return done(error);
      }
      done(null);
    },
    close: async () => file.close(),
  };
}
