import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface HealthFileOptions {
  readonly path: string;
  /** Hears of every write that failed; the file then still holds what was written before. Must not throw. */
  onError(error: unknown): void;
}

/**
 * The state of the daemon as a file, for other programs: replaced as a whole, so that a reader never sees half of it, and
 * private (0600). It is a view and not a memory: nothing is forced to the disk, and of what is put while a write is under
 * way only the latest is written.
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

  /** Takes the data as it is now; the write follows. Never throws. */
  put(data: object): void {
    try {
      this.#next = `${JSON.stringify(data)}\n`;
    } catch (error) {
      this.#options.onError(error);
      return;
    }
    this.#writing ??= this.#writeLatest();
  }

  /** Resolves when all that was put is written or has failed. Never rejects. */
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
      // A new file each time: a draft that was left there could have other permissions or be a link.
      await rm(this.#draft, { force: true });
      await writeFile(this.#draft, text, { mode: 0o600, flag: 'wx' });
      await rename(this.#draft, this.#options.path);
    } catch (error) {
      await rm(this.#draft, { force: true }).catch(() => {});
      throw error;
    }
  }

  /** Once, the drafts of those that were killed in the middle of a write. One that is in use only fails that write. */
  async #tidy(): Promise<void> {
    if (this.#isTidy) return;
    const { dir, base } = path.parse(this.#options.path);
    const isDraft = (name: string): boolean =>
      name.startsWith(`${base}.`) && /^\.\d+\.new$/.test(name.slice(base.length));
    for (const name of (await readdir(dir)).filter(isDraft)) await rm(path.join(dir, name), { force: true });
    this.#isTidy = true;
  }
}
