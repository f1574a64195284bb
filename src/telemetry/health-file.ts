import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface HealthFileOptions {
  readonly path: string;
  /** Called for every failed write; the file then has its previous content. Must not throw. */
  onError(error: unknown): void;
}

/**
 * The state of the daemon as a file for other programs. It is replaced as a whole, so that a reader never sees half of it,
 * and is private (0600). It is a view, not a record: nothing is forced to the disk, and of several values during a write
 * only the latest is written.
 */
export class HealthFile {
  readonly #options: HealthFileOptions;
  readonly #draft: string;
  #isTidy = false;
  #next: string | null = null;
  #writing: Promise<void> | null = null;

  constructor(options: HealthFileOptions) {
    this.#options = options;
    this.#draft = `${options.path}.${process.pid}.new`;
  }

  /** Takes a copy of the data and writes it soon. Never throws. */
  put(data: object): void {
    try {
      this.#next = `${JSON.stringify(data)}\n`;
    } catch (error) {
      this.#options.onError(error);
      return;
    }
    this.#writing ??= this.#writeLatest();
  }

  /** Resolves when all pending data is written or has failed. Never rejects. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async #writeLatest(): Promise<void> {
    while (this.#next !== null) {
      const text = this.#next;
      this.#next = null;
      await this.#replace(text).catch((error: unknown) => this.#options.onError(error));
    }
    this.#writing = null;
  }

  async #replace(text: string): Promise<void> {
    await this.#tidy();
    try {
      // A new file each time: a leftover draft could have other permissions or be a link.
      await rm(this.#draft, { force: true });
      await writeFile(this.#draft, text, { mode: 0o600, flag: 'wx' });
      await rename(this.#draft, this.#options.path);
    } catch (error) {
      await rm(this.#draft, { force: true }).catch(() => {});
      throw error;
    }
  }

  /** Removes, once, the drafts of processes that were killed during a write. Removing one that is in use only fails that write. */
  async #tidy(): Promise<void> {
    if (this.#isTidy) return;
    const { dir, base } = path.parse(this.#options.path);
    const isDraft = (name: string): boolean =>
      name.startsWith(`${base}.`) && /^\.\d+\.new$/.test(name.slice(base.length));
    for (const name of (await readdir(dir)).filter(isDraft)) await rm(path.join(dir, name), { force: true });
    this.#isTidy = true;
  }
}
