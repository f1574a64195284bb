import { expect, it } from 'vitest';
import { turnEndOf } from '../../src/agent/claude/turn/turn-end.ts';
import { codexError } from '../../src/agent/codex/turn/codex-error.ts';

const codex = (codexErrorInfo: unknown) =>
  codexError({ message: 'no', codexErrorInfo }, { windows: [], now: 0, home: null }).details.unreachable === true;

const claude = (status: number | null) => {
  const result = { is_error: true, subtype: 'success', terminal_reason: 'api_error', api_error_status: status };
  const end = turnEndOf(result, { error: null, resetsAt: null, now: 0, home: null });
  return end.status === 'failed' && end.error.details.unreachable === true;
};

it('a service that answers no one is not taken for one that refuses a request', () => {
  expect(codex('serverOverloaded')).toBe(true);
  expect(codex({ httpConnectionFailed: { httpStatusCode: null } })).toBe(true);
  expect(codex({ responseStreamConnectionFailed: { httpStatusCode: 503 } })).toBe(true);
  expect(codex('internalServerError')).toBe(false);
  expect(codex({ httpConnectionFailed: { httpStatusCode: 400 } })).toBe(false);
  expect([null, 502, 503, 504, 529].map(claude)).toEqual([true, true, true, true, true]);
  expect([400, 500].map(claude)).toEqual([false, false]);
});
