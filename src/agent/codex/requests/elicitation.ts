import type { AgentQuestion, QuestionAnswer, QuestionField } from '../../../core/command/question.ts';
import { exactLine } from '../../../core/text/exact-text.ts';
import type { CodexAnswer } from '../wire/connection.ts';
import { type Fields, fieldsOf, isFields, listOf, numberOf, textOf } from '../wire/fields.ts';
import type { JsonValue, McpServerElicitationRequestResponse } from '../wire/protocol.ts';
import { type Approval, approvalFor, block, json, line, oneLine, question } from './approval.ts';

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
  const message = textOf(params.message) ?? 'A tool server needs information from you.';
  const server = [`Server: ${textOf(params.serverName) ?? '?'}`];
  if (params.mode === 'url') return question(message, [...server, `Open: ${textOf(params.url) ?? ''}`]);
  if (params.mode === 'openai/userVerification') return null;
  return { ...question(message, server), fields: formFields(fieldsOf(params.requestedSchema)) };
}

/** The answer in the words of the protocol, each value of the type that the form wants. */
export function elicitedAnswerOf(params: Fields, answer: QuestionAnswer | null): CodexAnswer {
  if (answer === null || answer.decision === 'decline') return declined;
  if (params.mode === 'url') return accepted({ action: 'accept', content: null, _meta: null });
  const properties = Object.entries(fieldsOf(fieldsOf(params.requestedSchema).properties));
  // The server chooses the names: one may be the name of a property that every object has.
  const content: Record<string, JsonValue> = Object.fromEntries(
    properties.flatMap(([name, schema]) => {
      const value = Object.hasOwn(answer.values, name) ? answer.values[name] : undefined;
      return value === undefined ? [] : [[name, typed(value, fieldsOf(schema))]];
    }),
  );
  return accepted({ action: 'accept', content, _meta: null });
}

function accepted(result: McpServerElicitationRequestResponse): CodexAnswer {
  return { result };
}

function formFields(schema: Fields): readonly QuestionField[] {
  return Object.entries(fieldsOf(schema.properties)).map(([name, value]) => {
    const field = fieldsOf(value);
    return {
      name,
      label: oneLine(textOf(field.title) ?? textOf(field.description) ?? name),
      options: optionsOf(field),
      allowsOther: optionsOf(field).length === 0,
      isSecret: textOf(field.format) === 'password',
    };
  });
}

function optionsOf(field: Fields): readonly string[] {
  if (field.type === 'boolean') return ['true', 'false'];
  const items = isFields(field.items) ? field.items : field;
  const titled = [...listOf(items.oneOf), ...listOf(items.anyOf)].flatMap((each) => textOf(fieldsOf(each).const) ?? []);
  return titled.length > 0 ? titled : listOf(items.enum).flatMap((each) => textOf(each) ?? []);
}

function typed(value: string, schema: Fields): JsonValue {
  switch (schema.type) {
    case 'boolean':
      return /^(true|yes|y|1)$/i.test(value.trim());
    case 'number':
    case 'integer':
      return numberOf(value) ?? value;
    case 'array':
      return value.split(',').map((each) => each.trim());
    default:
      return value;
  }
}
