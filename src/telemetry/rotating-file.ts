import fs from 'node:fs';
import path from 'node:path';

export interface RotatingFileOptions {
  readonly path: string;
  /** A line that would make the file longer than this starts a new file. */
  readonly maxBytes: number;
  /** The largest number of files, including the current one. */
  readonly maxFiles: number;
  /** Wall time in milliseconds, to compare with times of files. */
  now(): number;
  /** Called once when a rotation fails, until one works again. Nothing is lost: the file only grows. */
  onRotationFailure(error: unknown): void;
}

/** A rotation takes milliseconds; a lock this old belongs to a process that died during one. */
const staleLockMs = 60_000;

/**
 * A file that is appended to, and rotated when it is full: `x`, `x.1`, `x.2` …, the newest first.
 *
 * Appends are synchronous, so that the last line before a crash is in the file. Each append checks that the path
 * still leads to the open file, so that a file that was removed, replaced or rotated by another process is opened again.
 * Only the holder of the lock file rotates, because two at once would overwrite each other's files.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #handle: number | null = null;
  /** The file ends in the middle of a line, because a write was cut off: ours, or that of a process that died. */
  #isTorn = false;
  #isRotationFailing = false;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** Throws when the line is not completely in the file. */
  append(line: string): void {
    const bytes = Buffer.from(line);
    let handle = this.#open();
    const { size } = fs.fstatSync(handle);
    if (size > 0 && size + bytes.length > this.#options.maxBytes) {
      this.#tryToRotate();
      handle = this.#open();
    }
    if (this.#isTorn) this.#writeAll(handle, Buffer.from('\n'));
    this.#isTorn = false;
    this.#writeAll(handle, bytes);
  }

  close(): void {
    if (this.#handle !== null) fs.closeSync(this.#handle);
    this.#handle = null;
  }

  #open(): number {
    if (this.#handle !== null && this.#leadsToHandle(this.#handle)) return this.#handle;
    this.close();
    fs.mkdirSync(path.dirname(this.#options.path), { recursive: true, mode: 0o700 });
    const handle = fs.openSync(this.#options.path, 'a+', 0o600);
    this.#handle = handle;
    this.#isTorn = !endsWithLineFeed(handle);
    return handle;
  }

  #leadsToHandle(handle: number): boolean {
    const found = fs.statSync(this.#options.path, { throwIfNoEntry: false });
    const open = fs.fstatSync(handle);
    return found?.ino === open.ino && found.dev === open.dev;
  }

  #writeAll(handle: number, bytes: Buffer): void {
    let written = 0;
    try {
      while (written < bytes.length) written += fs.writeSync(handle, bytes, written);
    } catch (error) {
      this.#isTorn ||= written > 0;
      throw error;
    }
  }

  #tryToRotate(): void {
    try {
      this.#rotate();
      this.#isRotationFailing = false;
    } catch (error) {
      if (this.#isRotationFailing) return;
      // Set first, because the callback may append a line about it here.
      this.#isRotationFailing = true;
      this.#options.onRotationFailure(error);
    }
  }

  #rotate(): void {
    const lock = `${this.#options.path}.lock`;
    if (!this.#takeLock(lock)) return;
    try {
      // Another process may have rotated between our check of the size and our lock.
      if (this.#handle === null || !this.#leadsToHandle(this.#handle)) return;
      this.close();
      this.#shift();
    } finally {
      fs.rmSync(lock, { force: true });
    }
  }

  /** False while another process rotates; this line then goes into the current file. */
  #takeLock(lock: string): boolean {
    try {
      fs.closeSync(fs.openSync(lock, 'wx'));
      return true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      const made = fs.statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
      if (made !== undefined && this.#options.now() - made > staleLockMs) fs.rmSync(lock, { force: true });
      return false;
    }
  }

  #shift(): void {
    const { path: file, maxFiles } = this.#options;
    const place = (index: number): string => (index === 0 ? file : `${file}.${index}`);
    // Each file overwrites the next older one.
    for (let index = maxFiles - 2; index >= 0; index--) {
      if (fs.existsSync(place(index))) fs.renameSync(place(index), place(index + 1));
    }
    if (maxFiles < 2) fs.rmSync(file, { force: true });
  }
}

function endsWithLineFeed(handle: number): boolean {
  const { size } = fs.fstatSync(handle);
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  fs.readSync(handle, last, 0, 1, size - 1);
  return last.toString() === '\n';
}
