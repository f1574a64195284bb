import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAccessTokens } from '../../src/server/access-tokens.ts';

const ofRun = { scope: 'run', holder: 'run-1' } as const;

describe('access tokens', () => {
  it('are accepted only in the exact header form', () => {
    const tokens = createAccessTokens();
    const token = tokens.issue(ofRun);
    expect(tokens.find(`Bearer ${token}`)).toEqual(ofRun);
    expect(tokens.find(`bearer  ${token}`)).toEqual(ofRun);
    const near = [
      null,
      '',
      token,
      `Basic ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token} `,
    ];
    expect(near.map((header) => tokens.find(header))).toEqual(near.map(() => null));
  });

  it('have 256 random bits and never repeat', () => {
    const tokens = createAccessTokens();
    const made = Array.from({ length: 500 }, (_, run) => tokens.issue({ scope: 'run', holder: String(run) }));
    expect(new Set(made).size).toBe(500);
    for (const token of made) expect(Buffer.from(token.replace('baton_run_', ''), 'base64url')).toHaveLength(32);
  });

  it('belong to one scope and one holder until they are revoked or replaced', () => {
    const tokens = createAccessTokens();
    const first = tokens.issue(ofRun);
    const other = tokens.issue({ scope: 'run', holder: 'run-2' });
    const reader = tokens.issue({ scope: 'read', holder: 'run-1' });
    const second = tokens.issue(ofRun);
    expect(tokens.find(`Bearer ${first}`)).toBeNull();
    expect(tokens.find(`Bearer ${second}`)).toEqual(ofRun);
    tokens.revoke(ofRun);
    expect(tokens.find(`Bearer ${second}`)).toBeNull();
    expect(tokens.find(`Bearer ${other}`)).toEqual({ scope: 'run', holder: 'run-2' });
    expect(tokens.find(`Bearer ${reader}`)).toEqual({ scope: 'read', holder: 'run-1' });
  });

  it('are not found by made-up values', () => {
    const tokens = createAccessTokens();
    tokens.issue(ofRun);
    fc.assert(fc.property(fc.string(), (made) => tokens.find(`Bearer ${made}`) === null && tokens.find(made) === null));
  });

  it('are valid exactly from their creation until replacement or revocation, in any order of events', () => {
    const holders = (['run', 'read', 'operate'] as const).flatMap((scope) =>
      ['a', 'b'].map((holder) => ({ scope, holder })),
    );
    const acts = fc.array(fc.tuple(fc.constantFrom('issue', 'revoke'), fc.constantFrom(...holders)), { maxLength: 30 });
    fc.assert(
      fc.property(acts, (done) => {
        const tokens = createAccessTokens();
        const good = new Map<object, string>();
        const all = new Map<string, object>();
        for (const [act, of] of done) {
          if (act === 'revoke') {
            tokens.revoke(of);
            good.delete(of);
          } else {
            const token = tokens.issue(of);
            good.set(of, token);
            all.set(token, of);
          }
          for (const [token, whose] of all)
            expect(tokens.find(`Bearer ${token}`)).toEqual(good.get(whose) === token ? whose : null);
        }
      }),
    );
  });
});
