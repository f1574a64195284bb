import type { AgentQuestion, QuestionAnswer } from '../../../core/command/question.ts';
import { exactLine } from '../../../core/text/exact-text.ts';
import { block, json, line } from '../../questions/approval.ts';
import { elicitedContent, elicitedQuestion } from '../../questions/elicitation.ts';
import { type Fields, fieldsOf, textOf } from '../../wire/fields.ts';
import type { CodexAnswer } from '../wire/connection.ts';
import type { JsonValue, McpServerElicitationRequestResponse } from '../wire/protocol.ts';
import { type Approval, approvalFor } from './approval.ts';

const declined: CodexAnswer = accepted({ action: 'decline', content: null, _meta: null });

/** An elicitation that asks whether a tool may be called; null when a server asks for information. */
export function elicitedApprovalOf(method: string, params: Fields): Approval | null {
  const meta = fieldsOf(params._meta);
  if (textOf(meta.codex_approval_kind) === null) return null;
  const server = textOf(params.serverName) ?? 'a server';
  const { codex_approval_kind: _kind, persist, ...input } = meta;
  const canLast = [persist].flat().includes('session');
  const facts = {
    kind: 'tool',
    text: `Codex wants to call a tool of ${exactLine(server)}: ${exactLine(textOf(params.message) ?? '')}`,
    detail: [
      ...line('Server', server),
      ...block('Message', textOf(params.message) ?? ''),
      ...(Object.keys(input).length === 0 ? [] : block('Call', json(input))),
    ],
    shown: ['mode', 'serverName', 'message', '_meta', 'requestedSchema', 'elicitationId'],
  } as const;
  return approvalFor(method, params, facts, (decision) => {
    if (decision === 'decline') return declined;
    const lasts = decision === 'accept_for_session' && canLast;
    return accepted({ action: 'accept', content: {}, _meta: lasts ? { persist: 'session' } : null });
  });
}

/** The question for a person on behalf of a server; null where no person can answer through Baton. */
export function elicitedQuestionOf(params: Fields): AgentQuestion | null {
  return params.mode === 'openai/userVerification' ? null : elicitedQuestion(textOf(params.serverName), params);
}

/** The answer in the words of the protocol, each value of the type that the form wants. */
export function elicitedAnswerOf(params: Fields, answer: QuestionAnswer | null): CodexAnswer {
  const content = elicitedContent(params, answer);
  // The values are text, numbers, booleans and lists of text.
  return content === 'declined' ? declined : accepted({ action: 'accept', content: content as JsonValue, _meta: null });
}

function accepted(result: McpServerElicitationRequestResponse): CodexAnswer {
  return { result };
}
