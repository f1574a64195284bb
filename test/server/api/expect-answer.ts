import { expect } from 'vitest';
import type { Route } from '../../../src/server/api/route.ts';

/**
 * The answer of a route, after it was held against the route's own schema: nothing is missing, nothing has another type,
 * and nothing is there that the schema does not have.
 */
export async function expectAnswer(route: Route, response: Response): Promise<unknown> {
  const text = await response.clone().text();
  expect({ status: response.status, text: response.status === route.status ? '' : text }).toEqual({
    status: route.status,
    text: '',
  });
  const json: unknown = JSON.parse(text);
  const read = route.answer.safeParse(json);
  expect(read.error?.issues ?? []).toEqual([]);
  // Unknown keys are dropped by the schema, so that what is left is less.
  expect(read.data).toEqual(json);
  return json;
}
