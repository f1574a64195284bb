import { describe, expect, it } from 'vitest';
import { codexError } from '../../../src/agent/codex/codex-error.ts';

const now = 1_700_000_000_000;
const judge = (error: unknown, windows: Parameters<typeof codexError>[1]['windows'] = []) =>
  codexError(error, { windows, now, home: null });
const http = (name: string, status: number | null) => ({ [name]: { httpStatusCode: status } });

describe('an error of Codex', () => {
  it.each([
    ['usageLimitExceeded', 'hit', 'agent_quota_exhausted'],
    ['rateLimitExceeded', 'hit', 'agent_quota_exhausted'],
    ['usage_limit_exceeded', 'hit', 'agent_quota_exhausted'],
    [http('responseTooManyFailedAttempts', 429), 'hit', 'agent_quota_exhausted'],
    [http('httpConnectionFailed', 402), 'pay', 'agent_quota_exhausted'],
    ['other', '{"error":{"code":"insufficient_quota"}}', 'agent_quota_exhausted'],
    ['unauthorized', 'no', 'agent_auth_failed'],
    [http('httpConnectionFailed', 401), 'no', 'agent_auth_failed'],
    [http('responseStreamConnectionFailed', 403), 'no', 'agent_auth_failed'],
    [{ http_connection_failed: { http_status_code: 401 } }, 'no', 'agent_auth_failed'],
    ['contextWindowExceeded', 'full', 'agent_context_exhausted'],
    ['other', '{"error":{"code":"context_length_exceeded"}}', 'agent_context_exhausted'],
    ['internalServerError', 'rate_limit_exceeded in the words of a server', 'agent_turn_failed'],
    [http('httpConnectionFailed', null), 'refused', 'agent_turn_failed'],
    ['serverOverloaded', 'busy', 'agent_turn_failed'],
    ['other', 'stream disconnected', 'agent_turn_failed'],
    [null, 'who knows', 'agent_turn_failed'],
  ])('%j with the words %j is %s', (codexErrorInfo, message, code) => {
    const error = judge({ message, codexErrorInfo, additionalDetails: null });
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  it('tells which kind of context is full, and how to log in', () => {
    expect(judge({ message: 'x', codexErrorInfo: 'contextWindowExceeded' }).details).toEqual({ kind: 'token' });
    expect(judge({ message: 'x', data: { input_error_code: 'input_too_large' } }).details).toEqual({ kind: 'context' });
    expect(judge({ message: 'x', codexErrorInfo: 'unauthorized' }).message).toContain('`codex login`');
  });

  it('has words even when Codex had none, harmless and not too long', () => {
    expect(judge(null).message).not.toBe('');
    const { message } = judge({ message: `\u001b[31m${'x'.repeat(10_000)}\nnext` });
    expect(message.length).toBeLessThan(700);
    expect(message).not.toContain('\u001b');
    expect(message).not.toContain('\n');
  });

  it.each([
    ['Rate limit reached. Please try again in 1.2s.', now + 1_200],
    ['Please try again in 6m0s.', now + 360_000],
    ['or try again in 3 days 4 hours 12 minutes.', now + ((3 * 24 + 4) * 60 + 12) * 60_000],
    ['Please try again in 20ms.', now + 20],
    ['{"error":{"type":"usage_limit_reached","resets_at":1700000600}}', 1_700_000_600_000],
    ['{"resets_in_seconds":60}', now + 60_000],
    ['visit the page or try again at 10:15 AM.', undefined],
    ['try again in a while', undefined],
    ['Quota exceeded. Check your plan and billing details.', undefined],
  ])('tells from %j when the quota is back', (message, resetsAt) => {
    expect(judge({ message, codexErrorInfo: 'usageLimitExceeded' }).details.resets_at).toBe(resetsAt);
  });

  it('takes the last reset of the windows that are used up, before any words', () => {
    const window = (usedPercent: number, resetsAt: number | null) => ({
      name: 'w',
      usedPercent,
      windowMinutes: null,
      resetsAt,
    });
    const error = { message: 'try again in 1s', codexErrorInfo: 'usageLimitExceeded' };
    const windows = [window(100, now + 5), window(101, now + 7), window(99, now + 900), window(100, null)];
    expect(judge(error, windows).details.resets_at).toBe(now + 7);
    expect(judge(error, [window(100, now - 1)]).details.resets_at).toBe(now + 1_000);
  });
});
