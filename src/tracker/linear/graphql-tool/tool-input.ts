import { needsInput, needsObject, needsQuery } from './fixed-texts.ts';

/** What an agent asked for, as the reference reads it: `operationName` and whatever else is there is not looked at. */
export interface ToolInput {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The input, or what is wrong with it. No input at all is an empty one. */
export function readToolInput(given: unknown = {}): ToolInput | string {
  if (typeof given === 'string') return withQuery(given, {});
  if (!isObject(given)) return needsInput;
  const { query, variables } = given;
  if (typeof query !== 'string') return needsQuery;
  if (variables !== undefined && variables !== null && !isObject(variables)) return needsObject;
  return withQuery(query, variables ?? {});
}

function withQuery(query: string, variables: ToolInput['variables']): ToolInput | string {
  const trimmed = query.trim();
  return trimmed === '' ? needsQuery : { query: trimmed, variables };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
