import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { refuse } from '../../refusal.ts';
import { agentReach, outOfReach } from '../agent-reach.ts';
import type { ApiProjects } from '../api-project.ts';
import { starting } from '../api-refusal.ts';
import type { MountParts } from '../mount-routes.ts';
import type { EventStream } from './event-stream.ts';

/** More than any team opens. */
const mostListeners = 1_000;
/** Bytes that a listener has not read yet; above this it counts as not reading. */
const mostWaitingBytes = 4 * 1_024 * 1_024;
const mostRuns = 20;

/**
 * `GET /api/v1/events`. Writes to Node's own response: the same text goes to hundreds of listeners, and a web stream
 * for each would copy it.
 */
export function streamRoute(
  stream: EventStream,
  {
    identify,
    projects,
  }: Pick<MountParts, 'identify'> & { readonly projects: Pick<ApiProjects, 'isStarting' | 'list'> },
): Hono {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const reach = agentReach(projects);
  const inBytes = rememberLast((text) => Buffer.from(text));
  app.get('/api/v1/events', async (context) => {
    const caller = await identify(context.req.raw, context.env);
    if (caller instanceof Response) return caller;
    if (!caller.scopes.has('read')) return refuse('forbidden');
    if (projects.isStarting) return starting();
    // A stream is about all projects.
    if (!(await reach.covers(caller, null))) return outOfReach();
    if (stream.listeners >= mostListeners) return refuse('too_many_requests', { headers: { 'retry-after': '5' } });
    const { outgoing } = context.env;
    outgoing.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // A proxy must not buffer the stream.
      'x-accel-buffering': 'no',
    });
    const runs = new Set((context.req.queries('run') ?? []).slice(0, mostRuns));
    const lastId = context.req.header('last-event-id') ?? context.req.query('last_event_id') ?? null;
    const leave = stream.listen(
      {
        send: (text) => {
          // The token of a listener is checked again at each keep-alive.
          if (isKeepAlive(text) && caller.isRevoked?.()) return false;
          if (outgoing.destroyed || outgoing.writableLength > mostWaitingBytes) return false;
          outgoing.write(inBytes(text));
          return true;
        },
        end: () => outgoing.destroy(),
      },
      { lastId, runs },
    );
    outgoing.on('close', leave);
    const { RESPONSE_ALREADY_SENT } = await import('@hono/node-server/utils/response');
    return RESPONSE_ALREADY_SENT;
  });
  return app as unknown as Hono;
}

/** A keep-alive is a comment, not an event. */
function isKeepAlive(text: string): boolean {
  return text.startsWith(':');
}

/** The same text goes to hundreds of listeners in a row, so it is encoded once. */
function rememberLast(make: (text: string) => Buffer): (text: string) => Buffer {
  let last: { readonly text: string; readonly bytes: Buffer } | null = null;
  return (text) => {
    if (last?.text !== text) last = { text, bytes: make(text) };
    return last.bytes;
  };
}
