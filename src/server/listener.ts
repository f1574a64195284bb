import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv4 } from 'node:net';
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import { type ConnectionLimits, keepConnections } from './connections.ts';
import { isForeignFetch } from './foreign-fetch.ts';
import { type HostRule, loopbackRule, openRule } from './host-check.ts';
import { announcesTooMuch } from './read-body.ts';
import { refuse } from './refusal.ts';

/**
 * The HTTP listener of the daemon. What must hold:
 *
 * - It accepts only requests with one of our `Host` values, with no `Origin` or ours (`host-check.ts`), and not fetched
 *   by a page of another site (`foreign-fetch.ts`). It checks this before anything else in a request.
 * - Each route decides by the token who may do what (`access-tokens.ts`). A route that forgets this is open to every
 *   program on this machine.
 * - A request is limited in time and size. A response may take as long as it needs, while the client keeps reading it
 *   (`connections.ts`).
 * - Every refusal is `{"error":{"code","message"}}`. No response and no log line repeats what the client sent.
 * - Nothing that a client does ends the daemon.
 */
export interface Listener extends ServedRoutes {
  readonly address: ListenerAddress;
}

export interface ServedRoutes extends AsyncDisposable {
  /** Adds routes below a path, at any time. Mounting the same path again replaces its routes. */
  mount(path: string, routes: Routes): void;
  /** Cuts all connections. Closing twice does nothing more. */
  close(): Promise<void>;
}

/** Routes, or what loads them on the first request. */
export type Routes = Hono | (() => Promise<Hono>);

export interface ListenerAddress {
  readonly host: string;
  readonly port: number;
  /** Whether only this machine reaches it. */
  readonly isLoopback: boolean;
  /** Without a slash at its end. */
  readonly url: string;
}

export interface ListenerOptions extends ServerOptions {
  /** An address of this machine. On an address that other machines reach, each route must require a token. */
  readonly host: string;
  /** Names under which other machines reach the listener; ignored on the loopback address. */
  readonly allowedHosts?: readonly string[];
  /** 0: any free port. */
  readonly port: number;
}

export interface ServerOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly chance: Chance;
  /** The longest time that a request may take to arrive completely. */
  readonly arrivalLimitMs?: number;
  readonly connections?: Partial<ConnectionLimits>;
}

const usualArrivalLimitMs = 20_000;
/**
 * Longer than clients keep an idle connection, so that the client closes it first and Baton never closes it during a
 * call.
 */
const idleLimitMs = 120_000;
/** Every live run has a few connections. */
const usualConnections: ConnectionLimits = { most: 1_000, unreadMs: 20_000, strangerIdleMs: 5_000 };

/** Rejects with `port_in_use` or `listener_failed` when Baton cannot listen on the address. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { address, ...served } = await serveHttp(options, async (server) => {
    const taken = await listen(server, options);
    const { port, isLoopback } = taken;
    const { host, allowedHosts = [] } = options;
    return { address: taken, rule: isLoopback ? loopbackRule(port, host) : openRule([host, ...allowedHosts]) };
  });
  return { address, ...served };
}

/** Why Baton cannot listen on this address, whatever the port; null when it can. */
export async function whyNotListening(host: string): Promise<BatonError | null> {
  const server = createServer();
  try {
    await listen(server, { host, port: 0 });
    return null;
  } catch (error) {
    return toBatonError(error);
  } finally {
    server.close();
  }
}

/**
 * Serves HTTP on a server that `bind` makes listen. `rule` says which hosts and origins are ours. Every route receives
 * `isLocal`: whether the caller used the local socket.
 */
export async function serveHttp<A extends { readonly rule: HostRule }>(
  options: ServerOptions,
  bind: (server: Server) => Promise<A>,
  isLocal = false,
): Promise<Omit<A, 'rule'> & ServedRoutes> {
  const { logger } = options;
  const mounted = new Map<string, Routes>();
  let app: Promise<Hono> | null = null;
  const load = async (): Promise<(request: IncomingMessage, response: ServerResponse) => Promise<void>> => {
    // On the first request: it loads the HTTP client of Node, for `Request` and `Response`, which takes 14 MB.
    const { getRequestListener, RequestError } = await import('@hono/node-server');
    const answer = async (request: Request, bindings: object): Promise<Response> => {
      app ??= compose(mounted, rule, options, isLocal);
      return (await app).fetch(request, { ...bindings, isLocal });
    };
    return getRequestListener(answer, {
      // The daemon's own requests use the global `Request` and `Response`, which must stay unchanged.
      overrideGlobalObjects: false,
      errorHandler: (error) => (error instanceof RequestError ? refuse('bad_request', atEnd) : failed(error, options)),
    });
  };
  let serving: ReturnType<typeof load> | null = null;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    serving ??= load();
    await (await serving)(request, response);
  };
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
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  return {
    ...bound,
    mount: (path, routes) => {
      mounted.set(path, routes);
      // An app takes no more routes once it has served a request, so build a new one.
      app = null;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function listen(
  server: Server,
  { host, port }: Pick<ListenerOptions, 'host' | 'port'>,
): Promise<ListenerAddress> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, exclusive: true }, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (cause) {
    const details = { host, port };
    if (cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE')
      throw new BatonError('port_in_use', `Port ${port} of ${host} is in use.`, { cause, details });
    throw new BatonError(
      'listener_failed',
      `Baton cannot listen on ${host}${port === 0 ? '' : `, port ${port}`}${why(cause)}.`,
      { cause, details },
    );
  }
  // The server has no path and is not closed, so its address is a network address.
  const taken = (server.address() as AddressInfo).port;
  const isLoopback = isLoopbackAddress(host);
  // A wildcard address is reached from this machine through the loopback address.
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return { host, port: taken, isLoopback, url: `http://${reached.includes(':') ? `[${reached}]` : reached}:${taken}` };
}

/** The reason in the words of the system, such as `EADDRNOTAVAIL`. */
function why(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
}

async function compose(
  mounted: ReadonlyMap<string, Routes>,
  rule: HostRule,
  options: ServerOptions,
  isLocal: boolean,
): Promise<Hono> {
  const { logger, clock } = options;
  const app = new Hono();
  app.use(async (context, next) => {
    const { raw } = context.req;
    const named = raw.headers.get('host');
    const hosts = [named, URL.parse(raw.url)?.host ?? null];
    if (!hosts.every((host) => rule.isOwnHost(host))) return refuse('foreign_host', atEnd);
    if (!rule.isOwnOrigin(raw.headers.get('origin'), named)) return refuse('foreign_origin', atEnd);
    if (isForeignFetch(raw)) return refuse('foreign_origin', atEnd);
    if (announcesTooMuch(raw.headers, isLocal)) return refuse('body_too_large', atEnd);
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
  for (const [path, routes] of mounted) app.route(path, typeof routes === 'function' ? await routes() : routes);
  app.notFound(() => refuse('not_found'));
  app.onError((error, context) => {
    // A client that disconnects during its own request is not a failure of Baton.
    return context.req.raw.signal.aborted ? refuse('bad_request', atEnd) : failed(error, options);
  });
  return app;
}

function failed(error: unknown, { logger, chance }: ServerOptions): Response {
  const requestId = chance.id();
  logger.error('request_failed', { request_id: requestId, error });
  return refuse('internal_error', { facts: { request_id: requestId } });
}

/** A refused client may still be sending; closing the connection drops the rest. */
const atEnd = { headers: { connection: 'close' } };

function isLoopbackAddress(host: string): boolean {
  return host === '::1' || host === 'localhost' || (isIPv4(host) && host.startsWith('127.'));
}

function isBelow(path: string, mount: string): boolean {
  return path === mount || path.startsWith(`${mount}/`);
}

/**
 * Sent with every response of the listener. A page runs nothing from another site, sends nothing to one, cannot be
 * framed, and no other page can read its content. TLS and its headers are left to a proxy.
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
