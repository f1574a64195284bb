import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../../src/http/http.ts';
import { linearProvider } from '../../../src/tracker/linear/linear-provider.ts';

const now = Date.UTC(2026, 0, 1);

const answer = (changes: Partial<HttpAnswer>): HttpAnswer => ({
  status: 200,
  headers: {},
  body: '{"data":{}}',
  isUnchanged: false,
  ...changes,
});

const limited = JSON.stringify({ errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED' } }] });

const headers = (requests: number, complexity: number): Record<string, string> => ({
  'x-ratelimit-requests-limit': '2500',
  'x-ratelimit-requests-remaining': String(requests),
  'x-ratelimit-requests-reset': String(now + 1_000),
  'x-ratelimit-complexity-limit': '3000000',
  'x-ratelimit-complexity-remaining': String(complexity),
  'x-ratelimit-complexity-reset': String(now + 2_000),
  'x-complexity': '2500',
});

describe("Linear's limits", () => {
  it('are read from the headers, with resets in milliseconds', () => {
    expect(linearProvider.announced(headers(7, 12), now)).toEqual([
      { name: 'requests', limit: 2500, remaining: 7, resetAt: now + 1_000 },
      { name: 'complexity', limit: 3_000_000, remaining: 12, resetAt: now + 2_000 },
    ]);
  });

  it.each([
    ['nothing', {}],
    ['words', { ...headers(1, 1), 'x-ratelimit-requests-limit': 'many', 'x-ratelimit-complexity-reset': 'soon' }],
    ['blanks', { ...headers(1, 1), 'x-ratelimit-requests-reset': ' ', 'x-ratelimit-complexity-limit': '' }],
    ['less than nothing', { ...headers(-1, -1) }],
  ])('are not read from %s', (_what, given) => {
    expect(linearProvider.announced(given, now)).toEqual([]);
  });

  it.each([
    ['a whole answer', answer({}), null],
    ['another error', answer({ status: 400, body: '{"errors":[{"message":"RATELIMITED"}]}' }), null],
    ['words about it in data', answer({ body: '{"data":{"code":"RATELIMITED"}}' }), null],
    ['a 400 with the code', answer({ status: 400, body: limited }), { until: null }],
    ['a 200 with the code', answer({ body: limited }), { until: null }],
    ['a 429 without words', answer({ status: 429, body: 'slow down' }), { until: null }],
    ['requests used up', answer({ status: 400, body: limited, headers: headers(0, 9_999) }), { until: now + 1_000 }],
    ['points used up', answer({ status: 400, body: limited, headers: headers(5, 0) }), { until: now + 2_000 }],
    [
      'too few points for this one',
      answer({ status: 400, body: limited, headers: headers(5, 2_499) }),
      { until: now + 2_000 },
    ],
    ['both used up', answer({ status: 400, body: limited, headers: headers(0, 0) }), { until: now + 2_000 }],
    [
      'no reason to be seen',
      answer({ status: 400, body: limited, headers: headers(5, 9_999) }),
      { until: now + 2_000 },
    ],
  ])('lead to a refusal or not: %s', (_what, given, expected) => {
    expect(linearProvider.refusal(given, now)).toEqual(expected);
  });

  it('with past resets do not say when to try again', () => {
    const given = answer({ status: 429, headers: headers(0, 0) });
    expect(linearProvider.refusal(given, now + 60_000)).toEqual({ until: null });
  });
});
