import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder that goes with the test. */
export function scratchFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'baton-log-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function logPath(logsRoot: string, index = 0): string {
  return path.join(logsRoot, 'log', index === 0 ? 'baton.log' : `baton.log.${index}`);
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever fields it wrote.
export type ReadLine = Record<string, any>;

/** Every line of one log file; a line that is no JSON fails the test. */
export function readLines(file: string): ReadLine[] {
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/**
 * Behaves as `process.stderr` does: it fails while `failure` is set, by callback and by event, and works again after;
 * while `isStalled` nobody reads.
 */
export class ScratchStream extends EventEmitter {
  readonly isTTY: boolean;
  failure: Error | null = null;
  isStalled = false;
  writableLength = 0;
  text = '';

  constructor({ isTTY }: { isTTY: boolean }) {
    super();
    this.isTTY = isTTY;
  }

  write(text: string, done: (error?: Error | null) => void): boolean {
    const { failure } = this;
    if (this.isStalled) {
      this.writableLength += text.length;
      return false;
    }
    if (failure === null) this.text += text;
    process.nextTick(() => {
      done(failure);
      if (failure !== null) this.emit('error', failure);
    });
    return true;
  }

  lines(): ReadLine[] {
    return this.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }
}
