import { BatonError } from '../../core/baton-error.ts';
import type { AgentQuestion } from '../../core/command/question.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { AgentEventName, TokenUsage, TurnResult } from '../agent.ts';
import type { FromProgram } from './protocol.ts';

// Translates messages of the program to the agent seam.

/** The name of the one field of its questions. */
export const field = 'answer';

/** The question for a person. */
export function questionOf(text: string, options: readonly string[]): AgentQuestion {
  const answer = { name: field, label: 'Answer', options, allowsOther: options.length === 0, isSecret: false };
  return { kind: 'input', text: harmlessLine(text), detail: '', fields: [answer] };
}

type TurnEnd = Exclude<FromProgram, { type: 'ready' | 'message' | 'usage' | 'tool_call' | 'ask' }>;

/** How a turn ended, according to the message of the program. */
export function turnResult(end: TurnEnd, now: number): TurnResult {
  const failed = (error: BatonError): TurnResult => ({ status: 'failed', error });
  switch (end.type) {
    case 'turn_completed':
      return { status: 'completed', ...(end.message === undefined ? {} : { message: end.message }) };
    case 'input_required':
      return { status: 'input_required', question: end.question };
    case 'turn_failed':
      return failed(new BatonError('agent_turn_failed', end.message));
    case 'out_of_quota': {
      const details = { resets_at: now + end.back_after_ms };
      return failed(
        new BatonError('agent_quota_exhausted', 'The quota of the scripted agent is used up.', { details }),
      );
    }
    case 'out_of_context': {
      const details = { kind: end.kind };
      return failed(
        new BatonError('agent_context_exhausted', 'The context of the scripted agent is full.', { details }),
      );
    }
    case 'logged_out':
      return failed(new BatonError('agent_auth_failed', `The scripted agent is not logged in. ${end.message}`.trim()));
  }
}

/** The event that reports each result. */
export const eventOf = {
  completed: 'turn_completed',
  failed: 'turn_failed',
  cancelled: 'turn_cancelled',
  input_required: 'turn_input_required',
} as const satisfies Record<TurnResult['status'], AgentEventName>;

export function summaryOf(result: TurnResult): string {
  if (result.status === 'failed') return result.error.message;
  return result.status === 'input_required' ? result.question : `turn ${result.status}`;
}

export function usageOf(message: { input_tokens: number; output_tokens: number }): TokenUsage {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = message;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
