import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { isLoopback } from '../core/requests/endpoint.ts';
import { acceptedEncodings, decodeBody } from './decode-body.ts';
import type { Transport, TransportAnswer, TransportRequest } from './transport.ts';

export interface UndiciTransportOptions {
  /** The environment of the process: `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in either case. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names Baton to the service. */
  readonly userAgent: string;
  readonly limits?: Partial<TransportLimits>;
}

export interface TransportLimits {
  readonly connectTimeoutMs: number;
  /** From the request to the head of its answer. */
  readonly headTimeoutMs: number;
  /** Between two pieces of the body. */
  readonly bodyTimeoutMs: number;
  /** Of the body, compressed and decompressed. */
  readonly largestBodyBytes: number;
  /** How long an idle connection stays open; a shorter time of the service is respected. */
  readonly keepAliveMs: number;
}

const defaultLimits: TransportLimits = {
  connectTimeoutMs: 10_000,
  headTimeoutMs: 25_000,
  bodyTimeoutMs: 15_000,
  largestBodyBytes: 32 * 1024 * 1024,
  keepAliveMs: 5 * 60_000,
};

/**
 * The real transport. It uses HTTP/1.1 with one request at a time on a connection, so that the library never sends a request
 * twice. Requests to this machine bypass every proxy, because they may be plain `http` with a credential.
 */
export function createUndiciTransport(options: UndiciTransportOptions): Transport {
  const limits = { ...defaultLimits, ...options.limits };
  const direct = new Agent(agentOptions(limits));
  const proxied = proxiedDispatcher(options.environment, limits);

  return {
    async send(request) {
      const { signal, method, body } = request;
      signal.throwIfAborted();
      const { origin, hostname, pathname, search } = new URL(request.url);
      const dispatcher = isLoopback(hostname) ? direct : proxied();
      const answer = await dispatcher.compose(once(request.beforeLeaving)).request({
        origin,
        path: pathname + search,
        method: method as Dispatcher.HttpMethod,
        headers: headersOf(request, options.userAgent),
        body,
        signal,
        headersTimeout: limits.headTimeoutMs,
        bodyTimeout: limits.bodyTimeoutMs,
      });
      return request.dropsBody === true ? dropBody(answer) : readAnswer(answer, limits.largestBodyBytes);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([direct.destroy(), proxied.destroy()]);
    },
  };
}

function agentOptions({ connectTimeoutMs, keepAliveMs }: TransportLimits): Agent.Options {
  const pool: Pool.Options = {
    allowH2: false,
    pipelining: 1,
    connectTimeout: connectTimeoutMs,
    connect: { timeout: connectTimeoutMs, lookup: lookUp, allowH2: false },
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
  };
  // The pools of a proxy get only a few of the options by default; this passes all of them.
  return { ...pool, factory: (origin, given) => new Pool(origin, { ...pool, ...given }) };
}

interface ProxiedDispatcher {
  (): Dispatcher;
  destroy(): Promise<void>;
}

/** Created when it is first needed, so that an invalid proxy address fails only the requests that need the proxy. */
function proxiedDispatcher(
  environment: UndiciTransportOptions['environment'],
  limits: TransportLimits,
): ProxiedDispatcher {
  let made: Dispatcher | null = null;
  const read = (name: string): string => environment[name.toLowerCase()] || environment[name] || '';
  const make = (): Dispatcher => {
    try {
      // Empty texts, because the library reads missing ones from the environment itself.
      return new EnvHttpProxyAgent({
        ...agentOptions(limits),
        httpProxy: read('HTTP_PROXY'),
        httpsProxy: read('HTTPS_PROXY'),
        noProxy: read('NO_PROXY'),
      });
    } catch {
      // The error would quote the address, and with it the proxy's password.
      throw Object.assign(new Error('the address of the proxy cannot be read'), { code: 'BAD_PROXY' });
    }
  };
  const get = (): Dispatcher => {
    made ??= make();
    return made;
  };
  return Object.assign(get, { destroy: async () => made?.destroy() });
}

/** Every name below `localhost` is this machine (RFC 6761 6.3), whatever a name server says. */
const lookUp: LookupFunction = (hostname, options, callback) =>
  lookup(isLoopback(hostname) ? 'localhost' : hostname, options, callback);

/** Checks right before writing whether the request may be sent, and never writes it twice. */
function once(beforeLeaving: TransportRequest['beforeLeaving']): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    let hasLeft = false;
    const start = handler.onRequestStart;
    handler.onRequestStart = function startOnce(controller, context) {
      if (hasLeft) throw new Error('a request was about to be sent a second time');
      beforeLeaving?.();
      hasLeft = true;
      start?.call(this, controller, context);
    };
    return dispatch(options, handler);
  };
}

function headersOf({ headers }: TransportRequest, userAgent: string): Record<string, string> {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { 'user-agent': userAgent, ...Object.fromEntries(given), 'accept-encoding': acceptedEncodings };
}

/** Closing the connection ends the rest of the body. */
function dropBody({ statusCode, headers, body }: Dispatcher.ResponseData): TransportAnswer {
  body.on('error', () => {});
  body.destroy();
  return { status: statusCode, headers: headersIn(headers), body: '', bytes: 0 };
}

function headersIn(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

async function readAnswer(answer: Dispatcher.ResponseData, largest: number): Promise<TransportAnswer> {
  const headers = headersIn(answer.headers);
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop destroys the body, and with it the connection.
  for await (const piece of answer.body as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > largest) throw tooLarge();
    pieces.push(piece);
  }
  const body = await decodeBody(Buffer.concat(pieces), headers['content-encoding'] ?? '', largest);
  return { status: answer.statusCode, headers, body, bytes };
}

function tooLarge(): Error {
  return Object.assign(new Error('the answer is too large'), { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' });
}
