import * as z from 'zod';
import { refusal } from '../../client/schema/common.ts';
import { streamEvents } from '../../client/schema/event.ts';
import type { Route } from './route.ts';

/** The OpenAPI document, built from the schemas that the routes use. */
export function openApiDocument(routes: readonly Route[], version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  paths['/api/v1/events'] = { get: eventsOperation };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Baton',
      version,
      description: 'Read what Baton does and why, and send it commands. `GET` changes nothing.',
    },
    paths,
    components: {
      schemas: { Refusal: schemaOf(refusal, 'output') },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    // On the loopback address a program of the same user needs no token.
    security: [{}, { token: [] }],
  };
}

function operation({ summary, scope, params, query, body, answer, status }: Route): Record<string, unknown> {
  return {
    summary,
    description: `Needs the scope \`${scope}\`.`,
    parameters: [...parametersOf(params, 'path'), ...parametersOf(query, 'query')],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body, 'input') } } } }),
    responses: {
      [status]: { description: summary, content: { 'application/json': { schema: schemaOf(answer, 'output') } } },
      default: {
        description: 'The request was refused or failed; `code` says why.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
      },
    },
  };
}

function parametersOf(object: z.ZodObject | undefined, place: 'path' | 'query'): Record<string, unknown>[] {
  if (object === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(object, 'input') as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema,
  }));
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _draft, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}

const eventsOperation = {
  summary: 'The state of all projects as it changes: server-sent events, continued from `Last-Event-ID`.',
  description: `Needs the scope \`read\`. Events: ${Object.keys(streamEvents).join(', ')}; \`x-events\` has the data of each.`,
  parameters: [
    { name: 'run', in: 'query', required: false, schema: { type: 'array', items: { type: 'string' } } },
    { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
  ],
  responses: { 200: { description: 'The stream.', content: { 'text/event-stream': { schema: { type: 'string' } } } } },
  'x-events': Object.fromEntries(
    Object.entries(streamEvents).map(([name, schema]) => [name, schemaOf(schema, 'output')]),
  ),
};
