import type { AgentQuestion, QuestionAnswer, QuestionField } from '../../core/command/question.ts';
import { type Fields, fieldsOf, isFields, listOf, numberOf, textOf } from '../wire/fields.ts';
import { oneLine, question } from './approval.ts';

/** The question of an MCP server or of the agent itself for a person, from the parameters of `elicitation/create`. */
export function elicitedQuestion(serverName: string | null, params: Fields): AgentQuestion {
  const message = textOf(params.message) ?? 'A tool server needs information from you.';
  const server = serverName === null ? [] : [`Server: ${serverName}`];
  if (params.mode === 'url') return question(message, [...server, `Open: ${textOf(params.url) ?? ''}`]);
  return { ...question(message, server), fields: formFields(fieldsOf(params.requestedSchema)) };
}

/** The content of an accepted form, each value of the type that the form wants; null for a page to open. */
export function elicitedContent(
  params: Fields,
  answer: QuestionAnswer | null,
): Readonly<Record<string, unknown>> | null | 'declined' {
  if (answer === null || answer.decision === 'decline') return 'declined';
  if (params.mode === 'url') return null;
  const properties = Object.entries(fieldsOf(fieldsOf(params.requestedSchema).properties));
  // The server chooses the names: one may be the name of a property that every object has.
  return Object.fromEntries(
    properties.flatMap(([name, schema]) => {
      const value = Object.hasOwn(answer.values, name) ? answer.values[name] : undefined;
      return value === undefined ? [] : [[name, typed(value, fieldsOf(schema))]];
    }),
  );
}

function formFields(schema: Fields): readonly QuestionField[] {
  return Object.entries(fieldsOf(schema.properties)).map(([name, value]) => {
    const field = fieldsOf(value);
    return {
      name,
      label: oneLine(textOf(field.title) ?? textOf(field.description) ?? name),
      options: optionsOf(field),
      allowsOther: optionsOf(field).length === 0,
      // Some agents mark a secret below their own name in `_meta`.
      isSecret: textOf(field.format) === 'password' || Object.values(fieldsOf(field._meta)).some(isSecretMark),
    };
  });
}

function optionsOf(field: Fields): readonly string[] {
  if (field.type === 'boolean') return ['true', 'false'];
  const items = isFields(field.items) ? field.items : field;
  const titled = [...listOf(items.oneOf), ...listOf(items.anyOf)].flatMap((each) => textOf(fieldsOf(each).const) ?? []);
  return titled.length > 0 ? titled : listOf(items.enum).flatMap((each) => textOf(each) ?? []);
}

function typed(value: string, schema: Fields): unknown {
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

function isSecretMark(own: unknown): boolean {
  return fieldsOf(own).isSecret === true;
}
