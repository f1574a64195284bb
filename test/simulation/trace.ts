import { createHash } from 'node:crypto';

/**
 * Everything that happened in one seed, as lines. Two runs of a seed are equal if their hashes are; to search
 * for a defect, print the lines.
 */
export class Trace {
  readonly #hash = createHash('sha256');
  readonly #now: () => number;
  readonly #print: ((line: string) => void) | null;
  events = 0;

  constructor(now: () => number, print: ((line: string) => void) | null) {
    this.#now = now;
    this.#print = print;
  }

  /** One event of the world. */
  tell(what: string, ...rest: readonly (string | number | null)[]): void {
    const line = `${this.#now()} ${what} ${rest.join(' ')}`;
    this.events += 1;
    this.#hash.update(line).update('\n');
    this.#print?.(readable(line));
  }

  /** Only for reading; not part of the hash. */
  remark(text: string): void {
    this.#print?.(readable(`${this.#now()}   · ${text}`));
  }

  get prints(): boolean {
    return this.#print !== null;
  }

  digest(): string {
    return this.#hash.digest('hex').slice(0, 16);
  }
}

function readable(line: string): string {
  const [at = '0', ...rest] = line.split(' ');
  const seconds = Number(at) / 1_000;
  return `${String(Math.floor(seconds / 60)).padStart(3)}:${(seconds % 60).toFixed(3).padStart(6, '0')} ${rest.join(' ')}`;
}
