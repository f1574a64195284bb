import { symphonyTexts } from './symphony-fixed-texts.ts';

/**
 * The error responses of the listener: always `{"error":{"code","message"}}` with a fixed message. They never repeat
 * what the client sent, because that may contain a token.
 */
const refusals = {
  bad_request: { status: 400, message: 'The request cannot be read.' },
  unauthorized: {
    status: 401,
    message: 'The bearer token is missing, unknown, or belongs to a run that has ended.',
  },
  forbidden: { status: 403, message: 'This token does not allow this request.' },
  not_for_agents: { status: 403, message: 'An agent may read its own project and stop its own run, and nothing else.' },
  foreign_origin: { status: 403, message: 'Pages of other sites may not send requests here.' },
  not_found: { status: 404, message: symphonyTexts.routeNotFound },
  method_not_allowed: { status: 405, message: symphonyTexts.methodNotAllowed },
  unsupported_type: { status: 415, message: 'The body must be JSON, with the content type application/json.' },
  invalid_request: { status: 422, message: 'The request has invalid parts; `problems` lists them.' },
  too_many_requests: { status: 429, message: 'Too many requests in a short time.' },
  body_too_large: { status: 413, message: 'The body of the request is too large.' },
  foreign_host: { status: 421, message: 'The Host header does not name this listener.' },
  internal_error: {
    status: 500,
    message: 'Baton failed to answer the request; its log has the error under this request id.',
  },
} as const satisfies Record<string, { readonly status: number; readonly message: string }>;

export type RefusalCode = keyof typeof refusals;

export interface RefusalOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** More facts next to code and message. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** After these responses Baton closes the connection, because the caller may not use this listener. */
const closing: ReadonlySet<number> = new Set([401, 403, 421]);

export function refuse(code: RefusalCode, { headers, facts }: RefusalOptions = {}): Response {
  const { status, message } = refusals[code];
  const ending = closing.has(status) ? { connection: 'close' } : {};
  return Response.json(
    { error: { code, message, ...facts } },
    { status, headers: { 'cache-control': 'no-store', ...ending, ...headers } },
  );
}
