import { Hono } from 'hono';
import type * as z from 'zod';
import type { Logger } from '../../core/logger.ts';
import { parseJson } from '../../core/text/parse-json.ts';
import { readBody } from '../read-body.ts';
import { refuse } from '../refusal.ts';
import { type Identify, tooMany } from './admit.ts';
import { type AgentReach, agentReach, outOfReach } from './agent-reach.ts';
import type { ApiProjects } from './api-project.ts';
import { apiRefusal } from './api-refusal.ts';
import type { ApiBindings, Caller } from './caller.ts';
import { callerKey } from './caller.ts';
import type { CostlyReads } from './costly-reads.ts';
import type { ParsedRequest, Route } from './route.ts';

export interface MountParts {
  readonly identify: Identify;
  readonly logger: Logger;
  readonly costly: CostlyReads;
  readonly projects: Pick<ApiProjects, 'list'>;
}

/**
 * Mounts the routes. Each request is checked in this order: who the caller is, whether the caller may do this, whether
 * the request can be parsed. Then the route runs, when it is its turn. An error that callers may see is returned with
 * its next step; the listener handles any other error and returns nothing of it but an id.
 */
export function mountRoutes(routes: readonly Route[], parts: MountParts): Hono {
  const app = new Hono<{ Bindings: ApiBindings }>();
  const reach = agentReach(parts.projects);
  for (const route of routes) {
    // A trailing slash makes no difference.
    app.on(route.method, [route.path, `${route.path}/`], async (context) => {
      const { raw } = context.req;
      const caller = await parts.identify(raw, context.env);
      if (caller instanceof Response) return caller;
      if (!caller.scopes.has(route.scope)) return refuse('forbidden');
      const params = context.req.param() as Record<string, string>;
      if (!(await isReached(reach, route, params.project ?? null, caller))) return outOfReach();
      const asked = await parseRequest(route, raw, params, {
        caller,
        isLocal: context.env?.isLocal === true,
      });
      if (asked instanceof Response) return asked;
      if (route.isCostly?.(asked) !== true) return answerOf(route, asked);
      return inTurn(parts.costly, asked, context.env ?? {}, () => answerOf(route, asked));
    });
  }
  return app as unknown as Hono;
}

async function isReached(
  reach: AgentReach,
  { scope, forAgents }: Route,
  project: string | null,
  caller: Caller,
): Promise<boolean> {
  if (caller.author.kind !== 'run' || forAgents === 'filtered') return true;
  return forAgents !== 'never' && (project !== null || scope === 'read') && reach.covers(caller, project);
}

async function answerOf(route: Route, asked: ParsedRequest): Promise<Response> {
  try {
    const answer = await route.handle(asked);
    if (answer instanceof Response) return answer;
    return Response.json(answer, { status: route.status, headers: { 'cache-control': 'no-store' } });
  } catch (thrown) {
    const refusal = apiRefusal(thrown);
    if (refusal === null) throw thrown;
    return refusal;
  }
}

async function inTurn(
  costly: CostlyReads,
  { caller, signal }: ParsedRequest,
  { outgoing }: ApiBindings,
  answer: () => Promise<Response>,
): Promise<Response> {
  const read = costly.enter(callerKey(caller));
  if (read === null) return tooMany();
  // A client that has disconnected waits for no turn and receives no response.
  if (outgoing === undefined || outgoing.destroyed) read.taken();
  outgoing?.once('close', read.taken);
  signal.addEventListener('abort', read.done, { once: true });
  try {
    await read.turn;
    return signal.aborted ? refuse('bad_request') : await answer();
  } finally {
    signal.removeEventListener('abort', read.done);
    read.done();
  }
}

async function parseRequest(
  route: Route,
  request: Request,
  params: Record<string, string>,
  { caller, isLocal }: { readonly caller: Caller; readonly isLocal: boolean },
): Promise<ParsedRequest | Response> {
  const query = queryOf(new URL(request.url));
  const body = route.body === undefined ? undefined : await bodyOf(request, isLocal);
  if (body instanceof Response) return body;
  const read = { params: {} as unknown, query: {} as unknown, body: undefined as unknown };
  const wanted = { params: route.params, query: route.query, body: route.body };
  for (const [part, value] of Object.entries({ params, query, body }) as [keyof typeof read, unknown][]) {
    const schema = wanted[part];
    if (schema === undefined) continue;
    const found = schema.safeParse(value);
    if (!found.success) return refuse('invalid_request', { facts: { problems: problemsOf(part, found.error) } });
    read[part] = found.data;
  }
  return { ...read, caller, signal: request.signal };
}

/** A name that occurs several times becomes a list. */
function queryOf({ searchParams }: URL): Record<string, string | string[]> {
  const names = new Set(searchParams.keys());
  return Object.fromEntries(
    [...names].map((name) => {
      const values = searchParams.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
}

async function bodyOf(request: Request, isLocal: boolean): Promise<unknown> {
  // A foreign page can send a form without a preflight request, but not JSON.
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') return refuse('unsupported_type');
  const text = await readBody(request, isLocal).catch(() => '');
  if (text === null) return refuse('body_too_large', { headers: { connection: 'close' } });
  try {
    return parseJson(text);
  } catch {
    return refuse('bad_request');
  }
}

/** Names each place that does not fit and what would fit; never repeats what the client sent. */
function problemsOf(part: string, { issues }: z.ZodError): { readonly at: string; readonly problem: string }[] {
  return issues
    .slice(0, 20)
    .map(({ path, message }) => ({ at: [part, ...path.map(String)].join('.'), problem: message }));
}
