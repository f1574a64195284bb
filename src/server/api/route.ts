import type { z } from 'zod';
import type { Caller } from './caller.ts';

/**
 * One address of the API. What must hold:
 *
 * - What comes in is read by `params`, `query` and `body` before `handle` is called; what does not fit never reaches it.
 * - What goes out fits `answer`. Tests hold every answer against it, and the OpenAPI document is made of the same schemas,
 *   so that the three cannot tell different things.
 * - `scope` says what a caller must be allowed; `read` changes nothing, whoever calls it and however often.
 */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** As Hono writes it: `/api/v1/projects/:project/runs/:run`. */
  readonly path: string;
  readonly scope: 'read' | 'operate';
  /** One sentence for the document. */
  readonly summary: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly status: 200 | 202;
  readonly answer: z.ZodType;
  /** Whether it takes long, or gives much: then it waits for its turn among others like it (`costly-reads.ts`). */
  isCostly?(asked: Asked): boolean;
  handle(asked: Asked): unknown;
}

/** A request that has been read. */
export interface Asked<P = unknown, Q = unknown, B = unknown> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: Caller;
  /** Aborted when the caller has gone. */
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
  isCostly?(asked: Asked<z.output<P>, z.output<Q>, z.output<B>>): boolean;
  /** A `Response` is a refusal in words of its own. */
  handle(asked: Asked<z.output<P>, z.output<Q>, z.output<B>>): Answer<A> | Promise<Answer<A>>;
}

type Answer<A extends z.ZodType> = z.input<A> | Response;

/** Ties the schemas of a route to the types of its handler. Without a word it is a `read` that answers 200. */
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
      : { isCostly: (asked: Asked) => isCostly(asked as Asked<z.output<P>, z.output<Q>, z.output<B>>) }),
    // The mount hands over exactly what the schemas gave.
    handle: (asked) => handle(asked as Asked<z.output<P>, z.output<Q>, z.output<B>>),
  };
}
