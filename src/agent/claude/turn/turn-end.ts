import { BatonError } from '../../../core/baton-error.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import type { TurnResult } from '../../agent.ts';
import { type Fields, fieldsOf, listOf, numberOf, shown, textOf } from '../../wire/fields.ts';
import { noAnswerStatuses } from '../../wire/no-answer.ts';
import { claudeLoginCommand } from '../resume-command.ts';

/** Facts around the end of a turn that help to judge it. */
export interface EndSurroundings {
  /** The kind of error of the last message, such as `rate_limit`; null where it had none. */
  readonly error: string | null;
  /** When the used-up quota is available again, wall time in milliseconds; null where it is not known. */
  readonly resetsAt: number | null;
  readonly now: number;
  /** The folder of the account; null means Claude Code's own default. */
  readonly home: string | null;
}

/** The longest last message that is passed on; it is compared and shown, not stored. */
const longestMessage = 65_536;
const longestWords = 600;

/**
 * How a turn ended, judged by `is_error`, the subtype and the reason of its end together: Claude Code reports a failure
 * of the model as the subtype `success` too. Denied tools do not make a turn fail; the agent went on without them.
 */
export function turnEndOf(result: Fields, around: EndSurroundings): TurnResult {
  const reason = textOf(result.terminal_reason);
  if (result.is_error === false && result.subtype === 'success' && (reason === null || reason === 'completed')) {
    const message = textOf(result.result) ?? '';
    return message === ''
      ? { status: 'completed' }
      : { status: 'completed', message: message.slice(0, longestMessage) };
  }
  return { status: 'failed', error: errorOf(result, reason, around) };
}

/** The tools that were denied in a turn, each once; empty when none was. */
export function deniedTools(result: Fields): readonly string[] {
  const names = listOf(result.permission_denials).map((each) => textOf(fieldsOf(each).tool_name) ?? 'a tool');
  return [...new Set(names)];
}

function errorOf(result: Fields, reason: string | null, around: EndSurroundings): BatonError {
  const words = wordsOf(result);
  const status = numberOf(result.api_error_status);
  switch (kindOf(reason, status, around.error)) {
    case 'quota': {
      const { resetsAt, now } = around;
      const isKnown = resetsAt !== null && resetsAt > now;
      const details = isKnown ? { resets_at: resetsAt } : { may_be_rate_limit: true };
      const what = isKnown ? 'The quota of Claude is used up' : 'Claude reached a quota or rate limit';
      return new BatonError('agent_quota_exhausted', `${what}: ${words}`, { details });
    }
    case 'billing': {
      const message = `The billing of this Claude account needs your attention: ${words}`;
      return new BatonError('agent_quota_exhausted', message, { details: { billing: true }, nextStep: fixBilling });
    }
    case 'auth': {
      const login = claudeLoginCommand(around.home);
      const message = `The login of Claude was refused: ${words}. Log in with \`${login}\`, or fix the key.`;
      return new BatonError('agent_auth_failed', message, { details: { login } });
    }
    case 'token':
    case 'context':
      return new BatonError('agent_context_exhausted', `The context of Claude is full: ${words}`, {
        details: { kind: status === 413 ? 'context' : 'token' },
      });
    case 'other':
      return new BatonError('agent_turn_failed', words, {
        details: {
          ...(reason === null ? {} : { terminal_reason: reason }),
          ...(status === null ? {} : { status }),
          // The model's service gave no answer, or said that it cannot answer anyone.
          ...(reason === 'api_error' && (status === null || noAnswerStatuses.has(status)) ? { unreachable: true } : {}),
        },
      });
  }
}

const fixBilling = 'Fix the billing of the account, then run `baton issue retry` to continue at once.';

/** The model's server refuses the prompt, Claude Code refuses it before, or compacting does not help. */
const fullContext: ReadonlySet<string> = new Set(['prompt_too_long', 'blocking_limit', 'rapid_refill_breaker']);

const byError: Readonly<Record<string, 'quota' | 'billing' | 'auth'>> = {
  rate_limit: 'quota',
  billing_error: 'billing',
  authentication_failed: 'auth',
};

function kindOf(
  reason: string | null,
  status: number | null,
  error: string | null,
): 'quota' | 'billing' | 'auth' | 'token' | 'context' | 'other' {
  if (reason !== null && fullContext.has(reason)) return 'token';
  if (status === 413) return 'context';
  // Only a failure of the model's server ends a turn for its reason; an earlier one was overcome.
  if (reason !== 'api_error' && reason !== null) return 'other';
  const named = error !== null && Object.hasOwn(byError, error) ? byError[error] : undefined;
  if (named !== undefined) return named;
  if (status === 401 || status === 403) return 'auth';
  return status === 429 ? 'quota' : status === 402 ? 'billing' : 'other';
}

function wordsOf(result: Fields): string {
  const said = textOf(result.result) || listOf(result.errors).map(shown).join(' ');
  const line = harmlessLine(said || `Claude ended the turn: ${shown(result.terminal_reason ?? result.subtype)}`);
  return line.length <= longestWords ? line : `${line.slice(0, longestWords - 1)}…`;
}
