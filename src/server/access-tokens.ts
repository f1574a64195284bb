import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * What a token allows. `run`: the tools of one run, nothing else. `read`: reading the API. `operate`: changing things
 * through the API. No scope includes another.
 */
export type TokenScope = 'run' | 'read' | 'operate';

export interface TokenHolder {
  readonly scope: TokenScope;
  /** The owner of the token; for the scope `run`, the id of the run. */
  readonly holder: string;
}

/**
 * The tokens that are valid now. What must hold: a token is 256 bits from the system's random source. It is returned
 * once, to the caller that issues it; only its SHA-256 stays in memory. A comparison takes the same time whether or not
 * the token matches.
 */
export interface AccessTokens {
  /** Returns a new token and revokes the one that the holder had before in this scope. */
  issue(of: TokenHolder): string;
  revoke(of: TokenHolder): void;
  /** Returns the holder of the token in an `Authorization` header. */
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
      // Not from `Chance`, whose simulated version is predictable: no seed may ever lead to a token.
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
      // Compare all tokens, even after a match, so that the time does not show which one matched.
      for (const each of known) if (timingSafeEqual(each.digest, digest)) found = each.of;
      return found;
    },
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
