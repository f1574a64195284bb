/*
 * The error texts of `linear_graphql` in the reference implementation of Symphony (openai/symphony, dynamic_tool.ex).
 * Agents and workflows know them, so they are kept word for word.
 */

export const needsQuery = '`linear_graphql` requires a non-empty `query` string.';
export const needsInput =
  '`linear_graphql` expects either a GraphQL query string or an object with `query` and optional `variables`.';
export const needsObject = '`linear_graphql.variables` must be a JSON object when provided.';
export const noResponse = 'Linear GraphQL request failed before receiving a successful response.';

export function failedWithHttp(status: number): string {
  return `Linear GraphQL request failed with HTTP ${status}.`;
}
