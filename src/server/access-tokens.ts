import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * What a token opens: `run` the tools of one run and nothing else. `read` and `operate` are for the API: what is going
 * on, and changing it. No scope contains another.
 */
export type TokenScope = 'run' | 'read' | 'operate';

export interface TokenHolder {
  readonly scope: TokenScope;
  /** Whose it is: of the scope `run` the id of the run. */
  readonly holder: string;
}

/**
 * The tokens that are good now. What must hold: a token is 256 bits of the system's own chance; it is told once, to whom
 * it is for, and only its SHA-256 is kept, in memory; a comparison takes as long whether it fits or not.
 */
export interface AccessTokens {
  /** A new token; one that the holder had before in this scope is not good any more. */
  issue(of: TokenHolder): string;
  revoke(of: TokenHolder): void;
  /** Whose the token in an `Authorization` header is. */
  find(authorization: string | null): TokenHolder | null;
}

export function createAccessTokens(): AccessTokens {
  let known: readonly { readonly of: TokenHolder; readonly digest: Buffer }[] = [];
  const revoke = ({ scope, holder }: TokenHolder): void => {
    known = known.filter(({ of }) => of.scope !== scope || of.holder !== holder);
  };
  return {
    issue: (of) => {
      revoke(of);
      // Not from `Chance`, whose simulated twin can be foretold: no seed may ever lead to a token.
      const token = `baton_${of.scope}_${randomBytes(32).toString('base64url')}`;
      known = [...known, { of, digest: digestOf(token) }];
      return token;
    },
    revoke,
    find: (authorization) => {
      const token = /^bearer +([\w-]{1,200})$/i.exec(authorization ?? '')?.[1];
      if (token === undefined) return null;
      const digest = digestOf(token);
      let found: TokenHolder | null = null;
      // All are compared, whichever fits.
      for (const each of known) if (timingSafeEqual(each.digest, digest)) found = each.of;
      return found;
    },
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
