import type { QuotaWindow } from '../../../core/account/account.ts';
import { BatonError } from '../../../core/baton-error.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { type Fields, fieldsOf, firstOf, isFields, numberOf, textOf } from '../../wire/fields.ts';
import { noAnswerStatuses } from '../../wire/no-answer.ts';
import { codexKeyLoginCommand, codexLoginCommand } from '../resume-command.ts';
import { quotaResetTime } from './quota-reset.ts';

/** Facts around an error that help to classify it. */
export interface ErrorSurroundings {
  readonly windows: readonly QuotaWindow[];
  readonly now: number;
  /** The folder of the account; null means Codex's own default. */
  readonly home: string | null;
}

const longestWords = 600;

/**
 * Maps the error of a turn or of a refused request to the BatonError that decides what happens next. Codex names most
 * errors (`codexErrorInfo`). For the others it passes on the raw answer of the model's server, and this function reads
 * the codes in that.
 */
export function codexError(error: unknown, surroundings: ErrorSurroundings): BatonError {
  const fields = fieldsOf(error);
  const info = errorInfo(firstOf(fields, 'codexErrorInfo', 'codex_error_info'));
  const details = textOf(firstOf(fields, 'additionalDetails', 'additional_details'));
  const message = textOf(fields.message) ?? textOf(error) ?? 'Codex gave no reason';
  const raw = `${message}\n${details ?? ''}`;
  const words = spoken(details === null ? message : `${message} (${details})`);
  if (fieldsOf(fields.data).input_error_code === 'input_too_large') return contextError(words, 'context');
  switch (kindOf(info, raw)) {
    case 'quota':
      return quotaError(words, raw, info, surroundings);
    case 'auth':
      return authError(words, raw, surroundings);
    case 'context':
      return contextError(words, 'token');
    case 'other':
      return new BatonError('agent_turn_failed', words, {
        details: {
          ...(info.name === null ? {} : { codex_error: info.name }),
          ...(isUnreachable(info) ? { unreachable: true } : {}),
        },
      });
  }
}

/** The next step for a person comes first, because the end of a long reason is cut off. */
function quotaError(words: string, raw: string, info: ErrorInfo, { windows, now }: ErrorSurroundings): BatonError {
  const resetsAt = quotaResetTime(raw, windows, now);
  const details = resetsAt === null ? {} : { resets_at: resetsAt };
  if (info.status === 402 || info.name === 'insufficientQuota' || billing.test(raw)) {
    const message = `The billing of this Codex account needs your attention: ${words}`;
    return new BatonError('agent_quota_exhausted', message, {
      details: { ...details, billing: true },
      nextStep: fixBilling,
    });
  }
  const mayBeRate = info.status === 429 || info.name === 'rateLimitExceeded' || /\brate_limit_exceeded\b/.test(raw);
  const what = mayBeRate ? 'Codex reached a quota or rate limit' : 'The quota of Codex is used up';
  return new BatonError('agent_quota_exhausted', `${what}: ${words}`, {
    details: { ...details, ...(mayBeRate ? { may_be_rate_limit: true } : {}) },
  });
}

const fixBilling = 'Fix the billing of the account, then run `baton issue retry` to continue at once.';

/** The word "billing" alone is not enough: a rate limit names the page where the user can buy more. */
const billing = /\b(?:insufficient_quota|billing_[a-z_]+|plan and billing details)\b/i;

function authError(words: string, raw: string, { home }: ErrorSurroundings): BatonError {
  const login = refusedKey.test(raw) ? codexKeyLoginCommand(home) : codexLoginCommand(home);
  const message = `The login of Codex was refused: ${sentence(words)} Log in with \`${login}\`.`;
  return new BatonError('agent_auth_failed', message, { details: { login } });
}

/** OpenAI's text for a wrong key; its text for an expired ChatGPT login is different. */
const refusedKey = /\binvalid_api_key\b|\b(?:incorrect|invalid) api key\b|\bsk-/i;

const sentence = (words: string): string => (/[.!?…]$/.test(words) ? words : `${words}.`);

function contextError(words: string, kind: 'token' | 'context'): BatonError {
  return new BatonError('agent_context_exhausted', `The context of Codex is full: ${words}`, { details: { kind } });
}

function spoken(words: string): string {
  const line = harmlessLine(words);
  return line.length <= longestWords ? line : `${line.slice(0, longestWords - 1)}…`;
}

/** The model's service gave no answer, or said that it cannot answer anyone. A plain 500 may come from the request. */
function isUnreachable({ name, status }: ErrorInfo): boolean {
  if (name === 'serverOverloaded') return true;
  const isConnection = name === 'httpConnectionFailed' || name === 'responseStreamConnectionFailed';
  return isConnection && (status === null || noAnswerStatuses.has(status));
}

interface ErrorInfo {
  readonly name: string | null;
  readonly status: number | null;
}

/** Codex names an error by a word, or by a word with the HTTP status in it; older versions use snake case. */
function errorInfo(value: unknown): ErrorInfo {
  if (typeof value === 'string') return { name: camelCase(value), status: null };
  if (!isFields(value)) return { name: null, status: null };
  const [name, inside] = Object.entries(value)[0] ?? [null, null];
  const status = numberOf(firstOf(fieldsOf(inside), 'httpStatusCode', 'http_status_code'));
  return { name: name === null ? null : camelCase(name), status };
}

const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const byName: Readonly<Record<string, 'quota' | 'auth' | 'context'>> = {
  usageLimitExceeded: 'quota',
  rateLimitExceeded: 'quota',
  insufficientQuota: 'quota',
  unauthorized: 'auth',
  contextWindowExceeded: 'context',
};

const byStatus: Readonly<Record<number, 'quota' | 'auth'>> = { 401: 'auth', 402: 'quota', 403: 'auth', 429: 'quota' };

function kindOf(info: ErrorInfo, raw: string): 'quota' | 'auth' | 'context' | 'other' {
  const named = info.name !== null && Object.hasOwn(byName, info.name) ? byName[info.name] : undefined;
  if (named !== undefined) return named;
  const status = info.status === null ? undefined : byStatus[info.status];
  if (status !== undefined) return status;
  if (info.name !== null && info.name !== 'other' && info.name !== 'badRequest') return 'other';
  if (/\bcontext_length_exceeded\b/.test(raw)) return 'context';
  if (/\b(insufficient_quota|usage_limit_reached|usage_not_included|rate_limit_exceeded)\b/.test(raw)) return 'quota';
  return /\b(invalid_api_key|token_expired|refresh_token_reused)\b/.test(raw) ? 'auth' : 'other';
}

/** Whether an answer of Codex says that its settings, not the request, are broken. */
export function isBrokenConfig(refusal: Fields): boolean {
  return /failed to load configuration/.test(textOf(refusal.message) ?? '');
}

/** `-32001`: the app-server is overloaded. */
const overloaded = -32_001;

/**
 * What it means that Codex refuses to resume a thread. `lost`: the thread does not exist, its name is not valid, or it
 * cannot be read (`-32603` with "failed to read thread" is the answer of 0.166.0 for an empty or broken file), or it
 * belongs to another model provider than the one that Codex uses now.
 * `passing`: a later try may work.
 */
export function threadRefusalOf(refusal: Fields): 'lost' | 'passing' | 'other' {
  const words = textOf(refusal.message) ?? '';
  if (isBrokenConfig(refusal)) return 'other';
  if (refusal.code === overloaded || passing.test(words)) return 'passing';
  return lost.test(words) ? 'lost' : 'other';
}

const passing =
  /\b(overloaded|busy|locked|is closing|retry|try again|temporarily|timed out|too many|no space|permission denied|os error)\b/i;
const lost =
  /\bno rollout found\b|\b(thread|session|conversation|rollout) not found\b|\bbut your current provider is\b|\binvalid (thread|session|conversation) id\b|\bfailed to (read|load|parse) (thread|session|rollout)\b|\bcorrupt/i;
