import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Clock } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import { type InstanceLock, takeInstanceLock } from '../store/sqlite/instance-lock.ts';
import { whenFree } from '../store/sqlite/when-free.ts';

/** A token of a person or a program, as it is kept. */
export interface KeptToken {
  readonly id: string;
  /** Whose it is, or what for; in this name its commands are given. */
  readonly name: string;
  readonly scope: 'read' | 'operate';
  readonly createdAt: number;
  /** SHA-256 of the token, hexadecimal. The token itself is nowhere. */
  readonly digest: string;
}

const kept = z.object({
  tokens: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      scope: z.enum(['read', 'operate']),
      createdAt: z.number(),
      digest: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
});

const mostTokens = 1_000;

/**
 * The tokens for the API of this user's Batons, in one file that only he may read. What must hold: a token is told once,
 * when it is made, and only its digest is kept; one that was revoked is refused from the next request on; a file that
 * cannot be read opens nothing; of several who change it at once, each change is kept.
 */
export class TokenFile {
  readonly #file: string;
  readonly #clock: Clock;
  #read: { readonly stamp: string; readonly tokens: readonly KeptToken[] } | null = null;

  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
  }

  /** A new token. It is told here and never again. Rejects with `store_busy` when the file stays locked by another. */
  create(wanted: Pick<KeptToken, 'id' | 'name' | 'scope' | 'createdAt'>): Promise<string> {
    return this.#alone(() => {
      const tokens = this.list();
      if (tokens.length >= mostTokens) throw new BatonError('usage_error', `There are ${mostTokens} tokens already.`);
      // Not from `Chance`, whose simulated twin can be foretold: no seed may ever lead to a token.
      const token = `baton_${wanted.scope}_${randomBytes(32).toString('base64url')}`;
      this.#write([...tokens, { ...wanted, digest: digestOf(token) }]);
      return token;
    });
  }

  /** False when there is none of this id. */
  revoke(id: string): Promise<boolean> {
    return this.#alone(() => {
      const tokens = this.list();
      const left = tokens.filter((token) => token.id !== id);
      if (left.length < tokens.length) this.#write(left);
      return left.length < tokens.length;
    });
  }

  /** Throws `token_file_invalid` when the file is there and cannot be read. */
  list(): readonly KeptToken[] {
    const stamp = this.#stamp();
    if (stamp === null) return [];
    if (this.#read?.stamp === stamp) return this.#read.tokens;
    const { tokens } = this.#parse();
    this.#read = { stamp, tokens };
    return tokens;
  }

  find(token: string): KeptToken | null {
    const digest = Buffer.from(digestOf(token), 'hex');
    let found: KeptToken | null = null;
    // All are compared, whichever fits.
    for (const each of this.list()) if (timingSafeEqual(Buffer.from(each.digest, 'hex'), digest)) found = each;
    return found;
  }

  #parse(): z.output<typeof kept> {
    try {
      return kept.parse(JSON.parse(readFileSync(this.#file, 'utf8')));
    } catch (cause) {
      throw new BatonError('token_file_invalid', `The file of tokens ${this.#file} cannot be read.`, { cause });
    }
  }

  /** What changes when the file does; null where there is none. */
  #stamp(): string | null {
    const stat = statSync(this.#file, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? null : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
  }

  /** What was read must be what is written over: between the two nobody else may write. */
  async #alone<T>(change: () => T): Promise<T> {
    mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    const lock = await whenFree(this.#clock, this.#file, () => takeLock(this.#file));
    try {
      return change();
    } finally {
      lock.release();
    }
  }

  #write(tokens: readonly KeptToken[]): void {
    const draft = `${this.#file}.new`;
    writeFileSync(draft, `${JSON.stringify({ tokens }, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(draft, this.#file);
    this.#read = null;
  }
}

function takeLock(file: string): InstanceLock {
  try {
    return takeInstanceLock(file);
  } catch (error) {
    const isTaken = error instanceof BatonError && error.code === 'store_in_use';
    // Whoever has it has it for a moment.
    throw isTaken ? new BatonError('store_busy', `${file} is locked by another process.`, { cause: error }) : error;
  }
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
