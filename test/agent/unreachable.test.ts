import { expect, it } from 'vitest';
import { refusalOf } from '../../src/agent/acp/turn/turn-end.ts';
import { turnEndOf } from '../../src/agent/claude/turn/turn-end.ts';
import { codexError } from '../../src/agent/codex/turn/codex-error.ts';

const codex = (codexErrorInfo: unknown) =>
  codexError({ message: 'no', codexErrorInfo }, { windows: [], now: 0, home: null }).details.unreachable === true;

const claude = (status: number | null) => {
  const result = { is_error: true, subtype: 'success', terminal_reason: 'api_error', api_error_status: status };
  const end = turnEndOf(result, { error: null, resetsAt: null, now: 0, home: null });
  return end.status === 'failed' && end.error.details.unreachable === true;
};

const acp = (message: string, data: object) => {
  const refusal = Object.assign(new Error(message), { code: -32603, data });
  return refusalOf(refusal, { lastMessage: null, resetsAt: null, now: 0, login: '' }).details.unreachable === true;
};

it('a service that answers no one is not taken for one that refuses a request', () => {
  expect(codex('serverOverloaded')).toBe(true);
  expect(codex({ httpConnectionFailed: { httpStatusCode: null } })).toBe(true);
  expect(codex({ responseStreamConnectionFailed: { httpStatusCode: 503 } })).toBe(true);
  expect(codex('internalServerError')).toBe(false);
  expect(codex({ httpConnectionFailed: { httpStatusCode: 400 } })).toBe(false);
  expect([null, 502, 503, 504, 529].map(claude)).toEqual([true, true, true, true, true]);
  expect([400, 500].map(claude)).toEqual([false, false]);
  expect(acp('Internal error: API Error: 529 status 529.', { errorKind: 'server_error' })).toBe(true);
  expect(acp('Internal error: API Error: Connection refused (ECONNREFUSED)', { errorKind: 'server_error' })).toBe(true);
  expect(acp('Internal error: API Error: 500 status 500.', { errorKind: 'server_error' })).toBe(false);
  expect(
    acp('Internal error', { message: 'no', codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 503 } } }),
  ).toBe(true);
});
