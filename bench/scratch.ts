import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A folder that is removed when the bench ends. */
export class Scratch implements Disposable {
  readonly folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'baton-bench-')));
  readonly #remove = (): void => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });

  constructor() {
    // Also when someone interrupts the bench.
    process.once('exit', this.#remove);
  }

  /** Writes a file in the folder and returns its path. */
  write(name: string, content: string): string {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#remove);
    this.#remove();
  }
}
