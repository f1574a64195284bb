import { describe, expect, it } from 'vitest';
import { codexError } from '../../../../src/agent/codex/turn/codex-error.ts';

const now = 1_700_000_000_000;
const judge = (error: unknown, windows: Parameters<typeof codexError>[1]['windows'] = []) =>
  codexError(error, { windows, now, home: null });
const used = (message: string) => judge({ message, codexErrorInfo: 'usageLimitExceeded' });
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
  ])('%j with the text %j is %s', (codexErrorInfo, message, code) => {
    const error = judge({ message, codexErrorInfo, additionalDetails: null });
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  it('names the kind of full context, and the login command', () => {
    expect(judge({ message: 'x', codexErrorInfo: 'contextWindowExceeded' }).details).toEqual({ kind: 'token' });
    expect(judge({ message: 'x', data: { input_error_code: 'input_too_large' } }).details).toEqual({ kind: 'context' });
    expect(judge({ message: 'x', codexErrorInfo: 'unauthorized' }).message).toContain('`codex login`');
  });

  it('has a harmless and short message even when Codex sent none', () => {
    expect(judge(null).message).not.toBe('');
    const { message } = judge({ message: `\u001b[31m${'x'.repeat(10_000)}\nnext` });
    expect(message.length).toBeLessThan(700);
    expect(message).not.toContain('\u001b');
    expect(message).not.toContain('\n');
  });

  // @conforms codex.14
  it.each([
    ['unexpected status 401 Unauthorized: Incorrect API key provided: sk-a***z, url: http://127.0.0.1/v1', true],
    ['{"error":{"code":"invalid_api_key"}}', true],
    ['unexpected status 401 Unauthorized: Missing bearer or basic authentication in header', false],
    ["You didn't provide an API key.", false],
    ['Your access token could not be refreshed. Please log out and sign in again.', false],
  ])('with %j names the login command that fixes it, in whole sentences', (message, isKey) => {
    const error = { message, codexErrorInfo: http('httpConnectionFailed', 401) };
    const command = 'codex login';
    const withKey = `printenv OPENAI_API_KEY | ${command} --with-api-key`;
    const login = isKey ? withKey : command;
    expect(judge(error)).toMatchObject({ code: 'agent_auth_failed', details: { login } });
    expect(judge(error).message).toContain(message.replace(/\.?$/, '.'));
    expect(judge(error).message).toContain(`\`${login}\``);
    const elsewhere = codexError(error, { windows: [], now, home: "/it's here" }).message;
    const there = "CODEX_HOME='/it'\\''s here' codex login";
    expect(elsewhere).toContain(isKey ? `printenv OPENAI_API_KEY | ${there} --with-api-key` : `\`${there}\``);
  });

  // @conforms codex.15
  it.each([
    [http('responseTooManyFailedAttempts', 429), 'exceeded retry limit, last status: 429 Too Many Requests'],
    ['rateLimitExceeded', 'Please try again in 1.2s.'],
    ['other', '{"error":{"code":"rate_limit_exceeded"}}'],
  ])('%j with the text %j may be a quota or a rate limit', (codexErrorInfo, message) => {
    const error = judge({ message, codexErrorInfo });
    expect(error).toMatchObject({ code: 'agent_quota_exhausted', details: { may_be_rate_limit: true } });
    expect(error.message).toContain(message);
  });

  it('about a used-up quota is not a rate limit', () => {
    expect(used('hit').code).toBe('agent_quota_exhausted');
    expect(used('hit').details).toEqual({});
  });

  // @conforms codex.16
  it.each([
    ['usageLimitExceeded', 'Quota exceeded. Check your plan and billing details.'],
    ['insufficientQuota', 'no'],
    ['other', '{"error":{"code":"insufficient_quota"}}'],
    ['other', '{"error":{"code":"insufficient_quota","message":"try again in 1s"}}'],
    [http('responseTooManyFailedAttempts', 429), 'insufficient_quota'],
    [http('httpConnectionFailed', 402), 'pay'],
  ])('%j with the text %j is a billing problem', (codexErrorInfo, message) => {
    const error = judge({ message, codexErrorInfo });
    expect(error.code).toBe('agent_quota_exhausted');
    // The end of a long reason is cut off, so the next step for a person comes first.
    expect(error.message.endsWith(message)).toBe(true);
    expect(error.message.length).toBeGreaterThan(message.length);
    expect(error.nextStep).toContain('`baton issue retry`');
    expect(error.details).toMatchObject({ billing: true });
  });

  it('is not a billing problem because it names the page for buying more', () => {
    const message = 'Rate limit reached, try again in 20s. Add a payment method: https://example.org/account/billing.';
    const error = judge({ message, codexErrorInfo: 'rateLimitExceeded' });
    expect(error.details).toEqual({ resets_at: now + 20_000, may_be_rate_limit: true });
  });

  it('about billing has the reset time of the windows', () => {
    const window = { name: 'w', usedPercent: 100, windowMinutes: null, resetsAt: now + 3_600_000 };
    const error = { message: 'insufficient_quota', codexErrorInfo: 'usageLimitExceeded' };
    expect(judge(error, [window]).details).toEqual({ billing: true, resets_at: now + 3_600_000 });
  });

  it.each([
    ['Rate limit reached. Please try again in 1.2s.', now + 1_200],
    ['{"error":{"type":"usage_limit_reached","resets_at":1700000600}}', 1_700_000_600_000],
    ['or try again later.', undefined],
  ])('with %j has the reset time of the quota', (message, resetsAt) => {
    expect(used(message).details.resets_at).toBe(resetsAt);
  });

  it('uses the last reset of the used-up windows rather than the text', () => {
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
