import type * as z from 'zod';
import type { Caller } from './caller.ts';

/**
 * One route of the API. What must hold:
 *
 * - `params`, `query` and `body` parse the request before `handle` is called; a request that does not fit never reaches
 *   it.
 * - Every response fits `answer`. Tests check each response against it, and the OpenAPI document is built from the same
 *   schemas, so the three cannot differ.
 * - `scope` is what the caller needs. A `read` route changes nothing, for any caller, however often it is called.
 */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** In Hono's syntax: `/api/v1/projects/:project/runs/:run`. */
  readonly path: string;
  readonly scope: 'read' | 'operate';
  /**
   * `filtered`: it answers an agent by itself, with the agent's own project alone. `never`: it reads files for its caller
   * that an agent may move while it reads; an isolated agent would see through it what is hidden from itself.
   */
  readonly forAgents?: 'filtered' | 'never';
  /** One sentence for the OpenAPI document. */
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly status: 200 | 202;
  readonly answer: z.ZodType;
  /** Whether it takes long or returns much: then it waits for its turn among other such reads (`costly-reads.ts`). */
  isCostly?(asked: ParsedRequest): boolean;
  handle(asked: ParsedRequest): unknown;
}

/** A parsed request. */
export interface ParsedRequest<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: Caller;
  /** Aborted when the caller has disconnected. */
  readonly signal: AbortSignal;
}

interface TypedRoute<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, A extends z.ZodType>
  extends Omit<Route, 'handle' | 'isCostly' | 'params' | 'query' | 'body' | 'answer' | 'status' | 'scope'> {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly answer: A;
  readonly status?: Route['status'];
  readonly scope?: Route['scope'];
  isCostly?(asked: ParsedRequest<z.output<P>, z.output<Q>, z.output<B>>): boolean;
  /** A `Response` is a refusal with its own text. */
  handle(asked: ParsedRequest<z.output<P>, z.output<Q>, z.output<B>>): Answer<A> | Promise<Answer<A>>;
}

type Answer<A extends z.ZodType> = z.input<A> | Response;

/** Ties the schemas of a route to the types of its handler. By default a route is a `read` that answers 200. */
export function route<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, A extends z.ZodType>({
  handle,
  isCostly,
  ...rest
}: TypedRoute<P, Q, B, A>): Route {
  return {
    scope: 'read',
    status: 200,
    ...rest,
    ...(isCostly === undefined
      ? {}
      : {
          isCostly: (asked: ParsedRequest) => isCostly(asked as ParsedRequest<z.output<P>, z.output<Q>, z.output<B>>),
        }),
    // `mountRoutes` passes exactly what the schemas returned.
    handle: (asked) => handle(asked as ParsedRequest<z.output<P>, z.output<Q>, z.output<B>>),
  };
}
