import { BatonError } from '../../../core/baton-error.ts';
import { furthestResetMs } from '../../../core/run/backoff.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import type { TurnResult } from '../../agent.ts';
import { quotaResetTime } from '../../codex/turn/quota-reset.ts';
import { type Fields, fieldsOf, isFields, numberOf, shown, textOf } from '../../wire/fields.ts';
import type { AgentRefusal } from '../wire/connection.ts';

/** Facts around the end of a turn that help to judge it. */
export interface EndSurroundings {
  /** What the agent said last in the turn. */
  readonly lastMessage: string | null;
  /** When the quota is available again, in seconds, where an update said so. */
  readonly resetsAt: number | null;
  readonly now: number;
  /** How a person logs in. */
  readonly login: string;
}

/** The longest last message that is passed on; it is compared and shown, not stored. */
const longestMessage = 65_536;
const longestWords = 600;
const authRequired = -32_000;

/**
 * How a turn ended, by the answer to its prompt. Only `end_turn` is success, and only if a model answered: some agents
 * report a failure of the model as text and end the turn well, with no tokens at all.
 */
export function turnEndOf(answer: Fields, around: EndSurroundings): TurnResult {
  const reason = textOf(answer.stopReason);
  const { lastMessage } = around;
  if (reason === 'end_turn' && !hasNoTokens(answer))
    return lastMessage === null
      ? { status: 'completed' }
      : { status: 'completed', message: lastMessage.slice(0, longestMessage) };
  if (reason === 'end_turn' || reason === null) {
    const words = lastMessage ?? 'no model has answered';
    return { status: 'failed', error: errorOf(kindOf(null, words), words, {}, around, { stop_reason: reason }) };
  }
  const message = stops[reason] ?? `The agent stopped: ${harmlessLine(reason)}.`;
  const said = lastMessage === null ? message : `${message} It said: ${cut(lastMessage)}`;
  return { status: 'failed', error: new BatonError('agent_turn_failed', said, { details: { stop_reason: reason } }) };
}

const stops: Readonly<Record<string, string>> = {
  refusal: 'The model refused to continue.',
  max_tokens: 'The agent reached the limit of tokens for a turn.',
  max_turn_requests: 'The agent reached its limit of model calls for a turn.',
  cancelled: 'The agent ended the turn without finishing it.',
};

/** The agent reports tokens, and this turn has none. */
function hasNoTokens({ usage }: Fields): boolean {
  return usage === null || (isFields(usage) && numberOf(usage.totalTokens) === 0);
}

/** The error for a request that the agent refused: a prompt, or a step before the first one. */
export function refusalOf(refusal: AgentRefusal, around: EndSurroundings): BatonError {
  const { code, message, data } = refusal;
  const fields = fieldsOf(data);
  const more = [fields.message, fields.details, fields.error].map(textOf).find((each) => each !== null);
  const words = message.includes(more ?? '') ? message : `${message}: ${more}`;
  const { errorKind, codexErrorInfo, codex_error_info, errorName, reason } = fields;
  const named = [errorKind, codexErrorInfo, codex_error_info, errorName, fields.code, reason].map(shown).join(' ');
  return errorOf(kindOf(code, `${named} ${words}`), words, fields, around, { agent_code: code });
}

type Kind = 'in_use' | 'quota' | 'billing' | 'auth' | 'context' | 'unreachable' | 'other';

/** The protocol has a code for a missing login only; everything else is in the words of the agent. */
const kinds: readonly (readonly [kind: Kind, words: RegExp])[] = [
  ['in_use', /\bthread_active_writer\b|\balready has an active writer\b/],
  ['context', /prompt.?(is )?too.?long|context.?(window|length)|maximum.context|context.?limit|input is too long/i],
  ['billing', /billing|credit balance|insufficient.?quota|payment.required/i],
  ['quota', /rate.?limit|usage.?limit|\bquota\b|too many requests|\b429\b/i],
  ['auth', /authentication|unauthori[sz]ed|\b401\b|invalid.(api.|x-api-)?key|not logged in|please log ?in/i],
  // The model's service gave no answer, or said that it cannot answer anyone. A plain 500 may come from the request.
  ['unreachable', /overloaded|\bat capacity\b|\b(502|503|504|529)\b|connection.?(error|failed|refused)|ECONN/i],
];

function kindOf(code: number | null, words: string): Kind {
  if (code === authRequired || code === 401) return 'auth';
  if (code === 429) return 'quota';
  return kinds.find(([, pattern]) => pattern.test(words))?.[0] ?? 'other';
}

function errorOf(
  kind: Kind,
  said: string,
  data: Fields,
  { resetsAt: updated, now, login }: EndSurroundings,
  facts: Readonly<Record<string, unknown>>,
): BatonError {
  const words = cut(said);
  switch (kind) {
    case 'quota': {
      const resetsAt = resetTime({ resetsAt: updated, ...data }, said, now);
      const details = resetsAt === null ? { ...facts, may_be_rate_limit: true } : { ...facts, resets_at: resetsAt };
      return new BatonError('agent_quota_exhausted', `The agent reached a quota or rate limit: ${words}`, { details });
    }
    case 'billing':
      return new BatonError('agent_quota_exhausted', `The billing of this account needs your attention: ${words}`, {
        details: { ...facts, billing: true },
        nextStep: 'Fix the billing of the account, then run `baton issue retry` to continue at once.',
      });
    case 'auth':
      return new BatonError('agent_auth_failed', `The login of the agent was refused: ${words}. ${login}`, {
        details: { ...facts, login },
      });
    case 'context':
      return new BatonError('agent_context_exhausted', `The context of the agent is full: ${words}`, {
        details: { ...facts, kind: 'token' },
      });
    case 'in_use':
      return new BatonError('agent_thread_in_use', `The conversation is still open in another process: ${words}`, {
        details: facts,
        nextStep: 'Close the conversation, then run `baton issue retry`.',
      });
    case 'unreachable':
      return new BatonError('agent_turn_failed', words, { details: { ...facts, unreachable: true } });
    case 'other':
      return new BatonError('agent_turn_failed', words, { details: facts });
  }
}

/** When the quota is available again, where the agent says it as data or in the words that Codex uses. */
function resetTime(data: Fields, words: string, now: number): number | null {
  const at = numberOf(data.resetsAt ?? data.resets_at);
  const after = numberOf(data.retryAfter ?? data.retry_after ?? /retry.after:? (\d+) ?s/i.exec(words)?.[1]);
  const ms = at !== null ? (at < 1e11 ? at * 1000 : at) : after === null ? null : now + after * 1000;
  return ms !== null && ms > now && ms - now <= furthestResetMs ? ms : quotaResetTime(words, [], now);
}

function cut(text: string): string {
  const line = harmlessLine(text.slice(0, 4 * longestWords));
  return line.length <= longestWords ? line : `${line.slice(0, longestWords - 1)}…`;
}
