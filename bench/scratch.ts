import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A folder that is gone when the bench is over. */
export class Scratch implements Disposable {
  readonly folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'baton-bench-')));
  readonly #remove = (): void => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });

  constructor() {
    // Also when somebody ends the bench before its time.
    process.once('exit', this.#remove);
  }

  /** Writes a file below the folder and tells its path. */
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
