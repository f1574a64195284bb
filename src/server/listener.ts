import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIPv4 } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import { type ConnectionLimits, keepConnections } from './connections.ts';
import { isForeignFetch } from './foreign-fetch.ts';
import { type HostRule, loopbackRule, openRule } from './host-check.ts';
import { announcesTooMuch } from './read-body.ts';
import { refuse } from './refusal.ts';

/**
 * The daemon's ear for HTTP. What must hold:
 *
 * - It hears only those who mean it: a `Host` of ours, no `Origin` or ours (`host-check.ts`), and nothing that a page of
 *   another site made a browser fetch (`foreign-fetch.ts`). This is checked before anything else of a request is looked at.
 * - Who may do what is not decided here but by each route, by its token (`access-tokens.ts`). A route that forgets it is
 *   open to every program on this machine.
 * - A sender has little time and little room; an answer may take as long as it needs, as long as it is taken
 *   (`connections.ts`).
 * - Every refusal is `{"error":{"code","message"}}`. No answer and no line of the log repeats what was sent.
 * - Nothing that a visitor does ends the daemon.
 */
export interface Listener extends ServedRoutes {
  readonly address: ListenerAddress;
}

export interface ServedRoutes extends AsyncDisposable {
  /** Adds routes below a path, at any time; the same path again puts the new ones in the place of the old. */
  mount(path: string, routes: Hono): void;
  /** Cuts whoever is connected. Closing twice does nothing more. */
  close(): Promise<void>;
}

export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
  /** Whether only this machine reaches it. */
  readonly isLoopback: boolean;
  /** Without a slash at its end. */
  readonly url: string;
}

export interface ListenerOptions extends ServerOptions {
  /** An address of this machine. On one that others reach, each route has to ask for a token. */
  readonly host: string;
  /** Names under which others reach it; of no meaning on the loopback address. */
  readonly allowedHosts?: readonly string[];
  /** 0: any that is free. */
  readonly port: number;
}

export interface ServerOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly chance: Chance;
  /** So long a request may take to arrive whole. */
  readonly arrivalLimitMs?: number;
  readonly connections?: Partial<ConnectionLimits>;
}

const usualArrivalLimitMs = 20_000;
/** Longer than clients keep a connection that they do not use: who closes it first must not be us, in the middle of a call. */
const idleLimitMs = 120_000;
/** Every live run has a few. */
const usualConnections: ConnectionLimits = { most: 1_000, unreadMs: 20_000, strangerIdleMs: 5_000 };

/** Rejects with `listener_failed` when the address cannot be had. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { address, ...served } = await serveHttp(options, async (server) => {
    const taken = await listen(server, options);
    const { port, isLoopback } = taken;
    const { host, allowedHosts = [] } = options;
    return { address: taken, rule: isLoopback ? loopbackRule(port, host) : openRule([host, ...allowedHosts]) };
  });
  return { address, ...served };
}

/**
 * Serves HTTP on a server that `bind` makes listen; `rule` says under which names it is reached, and `isLocal` is handed
 * to every route: the caller came in over the local socket.
 */
export async function serveHttp<A extends { readonly rule: HostRule }>(
  options: ServerOptions,
  bind: (server: Server) => Promise<A>,
  isLocal = false,
): Promise<Omit<A, 'rule'> & ServedRoutes> {
  const { logger } = options;
  const mounted = new Map<string, Hono>();
  let app = new Hono();
  const serve = getRequestListener((request, bindings) => app.fetch(request, { ...bindings, isLocal }), {
    // The daemon's own requests go through the platform's own `Request` and `Response`.
    overrideGlobalObjects: false,
    errorHandler: (error) => (error instanceof RequestError ? refuse('bad_request', atEnd) : failed(error, options)),
  });
  const arrivalLimitMs = options.arrivalLimitMs ?? usualArrivalLimitMs;
  const server = createServer(
    {
      headersTimeout: arrivalLimitMs,
      requestTimeout: arrivalLimitMs,
      keepAliveTimeout: idleLimitMs,
      connectionsCheckingInterval: Math.ceil(arrivalLimitMs / 4),
    },
    (request, response) => {
      for (const [name, value] of Object.entries(secureHeaders)) response.setHeader(name, value);
      serve(request, response).catch((error) => {
        logger.error('response_failed', { error });
        response.destroy();
      });
    },
  );
  keepConnections(server, { ...usualConnections, ...options.connections });
  const { rule, ...bound } = await bind(server);
  server.on('error', (error) => logger.warn('listener_error', { error }));
  app = compose(mounted, rule, options);
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return {
    ...bound,
    mount: (path, routes) => {
      mounted.set(path, routes);
      // An app cannot take routes any more once it has served a request.
      app = compose(mounted, rule, options);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function listen(server: Server, { host, port }: ListenerOptions): Promise<ListenerAddress> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (cause) {
    throw new BatonError('listener_failed', `Baton cannot listen on ${host}, port ${port}.`, { cause });
  }
  // It has no path and is not closed, so its address is one of a network.
  const taken = (server.address() as AddressInfo).port;
  const isLoopback = isLoopbackAddress(host);
  // What stands for every address of this machine is reached, from here, by its own.
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return { host, port: taken, isLoopback, url: `http://${reached.includes(':') ? `[${reached}]` : reached}:${taken}` };
}

function compose(mounted: ReadonlyMap<string, Hono>, rule: HostRule, options: ServerOptions): Hono {
  const { logger, clock } = options;
  const app = new Hono();
  app.use(async (context, next) => {
    const { raw } = context.req;
    const named = raw.headers.get('host');
    const hosts = [named, URL.parse(raw.url)?.host ?? null];
    if (!hosts.every((host) => rule.isOwnHost(host))) return refuse('foreign_host', atEnd);
    if (!rule.isOwnOrigin(raw.headers.get('origin'), named)) return refuse('foreign_origin', atEnd);
    if (isForeignFetch(raw)) return refuse('foreign_origin', atEnd);
    if (announcesTooMuch(raw.headers)) return refuse('body_too_large', atEnd);
    const startedAt = clock.monotonic();
    await next();
    logger.debug('request_answered', {
      method: context.req.method,
      route: [...mounted.keys()].find((path) => isBelow(context.req.path, path)) ?? null,
      status: context.res.status,
      duration_ms: Math.round(clock.monotonic() - startedAt),
    });
    return undefined;
  });
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (_context, methods) =>
        refuse('method_not_allowed', { headers: { allow: methods.join(', ') } }),
    }),
  );
  for (const [path, routes] of mounted) app.route(path, routes);
  app.notFound(() => refuse('not_found'));
  app.onError((error, context) => {
    // Who has gone away in the middle of his own request is no failure of ours.
    return context.req.raw.signal.aborted ? refuse('bad_request', atEnd) : failed(error, options);
  });
  return app;
}

function failed(error: unknown, { logger, chance }: ServerOptions): Response {
  const requestId = chance.id();
  logger.error('request_failed', { request_id: requestId, error });
  return refuse('internal_error', { facts: { request_id: requestId } });
}

/** Whoever is refused like this may still be sending: what comes is not for us. */
const atEnd = { headers: { connection: 'close' } };

function isLoopbackAddress(host: string): boolean {
  return host === '::1' || host === 'localhost' || (isIPv4(host) && host.startsWith('127.'));
}

function isBelow(path: string, mount: string): boolean {
  return path === mount || path.startsWith(`${mount}/`);
}

/**
 * On every answer of the listener, whoever makes it. Nothing of another site runs in a page, nothing of it is sent
 * elsewhere, nobody frames it, and no other page reads what is here. TLS, and what a browser is told about it, is left to
 * a proxy.
 */
const secureHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
    ...["font-src 'self'", "manifest-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
