import { needsInput, needsObject, needsQuery } from './fixed-texts.ts';

/** The input of an agent, read as the reference reads it: `operationName` and all other keys are ignored. */
export interface ToolInput {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Returns the input, or what is wrong with it. A missing input counts as an empty one. */
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
