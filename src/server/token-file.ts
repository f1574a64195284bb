import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { Clock } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import { type InstanceLock, takeInstanceLock } from '../store/sqlite/instance-lock.ts';
import { whenFree } from '../store/sqlite/when-free.ts';

/** A stored token of a person or a program. */
export interface StoredToken {
  readonly id: string;
  /** The owner or purpose of the token; its commands carry this name as their author. */
  readonly name: string;
  readonly scope: 'read' | 'operate';
  readonly createdAt: number;
  /** SHA-256 of the token, hexadecimal. The token itself is stored nowhere. */
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
 * The API tokens of this user's Batons, in one file that only this user may read. What must hold: a token is returned
 * once, when it is created, and only its digest is stored; a revoked token is refused from the next request on; an
 * unreadable file grants no access; when several processes change the file at once, no change is lost.
 */
export class TokenFile {
  readonly #file: string;
  readonly #clock: Clock;
  #read: { readonly stamp: string; readonly tokens: readonly StoredToken[] } | null = null;

  constructor(file: string, clock: Clock) {
    this.#file = file;
    this.#clock = clock;
  }

  /**
   * Returns a new token, which cannot be read again later. Rejects with `store_busy` when another process keeps the
   * file locked.
   */
  create(wanted: Pick<StoredToken, 'id' | 'name' | 'scope' | 'createdAt'>): Promise<string> {
    return this.#alone(() => {
      const tokens = this.list();
      if (tokens.length >= mostTokens)
        throw new BatonError(
          'usage_error',
          `The token file already has ${mostTokens} tokens, the most that it can have.`,
        );
      // Not from `Chance`, whose simulated version is predictable: no seed may ever lead to a token.
      const token = `baton_${wanted.scope}_${randomBytes(32).toString('base64url')}`;
      this.#write([...tokens, { ...wanted, digest: digestOf(token) }]);
      return token;
    });
  }

  /** Returns false when no token has this id. */
  revoke(id: string): Promise<boolean> {
    return this.#alone(() => {
      const tokens = this.list();
      const left = tokens.filter((token) => token.id !== id);
      if (left.length < tokens.length) this.#write(left);
      return left.length < tokens.length;
    });
  }

  /** Throws `token_file_invalid` when the file exists and cannot be read. */
  list(): readonly StoredToken[] {
    const stamp = this.#stamp();
    if (stamp === null) return [];
    if (this.#read?.stamp === stamp) return this.#read.tokens;
    const { tokens } = this.#parse();
    this.#read = { stamp, tokens };
    return tokens;
  }

  find(token: string): StoredToken | null {
    const digest = Buffer.from(digestOf(token), 'hex');
    let found: StoredToken | null = null;
    // Compare all tokens, even after a match, so that the time does not show which one matched.
    for (const each of this.list()) if (timingSafeEqual(Buffer.from(each.digest, 'hex'), digest)) found = each;
    return found;
  }

  #parse(): z.output<typeof kept> {
    try {
      return kept.parse(JSON.parse(readFileSync(this.#file, 'utf8')));
    } catch (cause) {
      throw new BatonError('token_file_invalid', `The token file ${this.#file} cannot be read.`, { cause });
    }
  }

  /** A value that changes with the file; null when there is no file. */
  #stamp(): string | null {
    const stat = statSync(this.#file, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? null : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
  }

  /** Holds the lock from the read to the write, so that no other process writes in between. */
  async #alone<T>(change: () => T): Promise<T> {
    mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    const lock = await whenFree(this.#clock, this.#file, () => takeLock(this.#file));
    try {
      return change();
    } finally {
      lock.release();
    }
  }

  #write(tokens: readonly StoredToken[]): void {
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
    // Another process holds the lock only for a moment, so the caller may try again.
    throw isTaken ? new BatonError('store_busy', `${file} is locked by another process.`, { cause: error }) : error;
  }
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
