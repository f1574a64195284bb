import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import { parseJson } from '../core/text/parse-json.ts';
import type { ToolAddress, ToolHost, ToolSet } from '../core/tool-set.ts';
import type { AccessTokens } from './access-tokens.ts';
import { type FindPeer, type LocalPeer, rememberPeers } from './api/identify.ts';
import type { Listener } from './listener.ts';
import type { McpEndpoint, McpEndpointOptions } from './mcp-endpoint.ts';
import { readBody } from './read-body.ts';
import { refuse } from './refusal.ts';

export interface ToolHostOptions {
  readonly listener: Listener;
  readonly tokens: AccessTokens;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly findPeer: FindPeer;
  /** How often a stream that waits for its response sends a keep-alive; by default every ten seconds. */
  readonly keepAliveMs?: number;
}

/** One path serves the tools of all live runs; the token says which run. */
const mcpPath = '/mcp';
const challenge = { headers: { 'www-authenticate': 'Bearer' } };

/**
 * The MCP endpoints of live runs, at `/mcp` of the listener. A token of the scope `run` opens the endpoint of its own
 * run and nothing else, and not to a process of another run, which may have found the token on this machine. The token
 * is checked again after the body has arrived.
 */
export function createToolHost(options: ToolHostOptions): ToolHost {
  const { listener, tokens } = options;
  const endpoints = new Map<string, McpEndpoint>();
  const peerOf = rememberPeers(options.findPeer);

  const dismiss = (runId: string): void => {
    tokens.revoke({ scope: 'run', holder: runId });
    endpoints.get(runId)?.close();
    endpoints.delete(runId);
  };

  const admit = (runId: string, door: ToolSet): ToolAddress => {
    dismiss(runId);
    endpoints.set(runId, openOnFirstUse({ ...options, door }));
    return { url: `${listener.address.url}${mcpPath}`, token: tokens.issue({ scope: 'run', holder: runId }) };
  };

  /** Returns the endpoint of the token, or the error response when it has none. */
  const endpointOf = (request: Request): { readonly runId: string; readonly endpoint: McpEndpoint } | Response => {
    const found = tokens.find(request.headers.get('authorization'));
    if (found !== null && found.scope !== 'run') return refuse('forbidden');
    const endpoint = found === null ? undefined : endpoints.get(found.holder);
    if (found === null || endpoint === undefined) return refuse('unauthorized', challenge);
    return { runId: found.holder, endpoint };
  };

  const serve = async (request: Request, { incoming }: HttpBindings): Promise<Response> => {
    const found = endpointOf(request);
    if (found instanceof Response) return found;
    const { runId, endpoint } = found;
    if (!mayActFor(await peerOf(incoming.socket), runId)) return refuse('forbidden');
    const body = request.method === 'POST' ? await parsedBody(request) : undefined;
    if (body instanceof Response) return body;
    // The run may have ended while the request came in.
    const now = endpointOf(request);
    if (now instanceof Response) return now;
    return now.endpoint === endpoint ? endpoint.serve(request, body) : refuse('unauthorized', challenge);
  };

  listener.mount(
    mcpPath,
    // The listener serves every request with the bindings of Node.
    new Hono().on(['GET', 'POST', 'DELETE'], '/', ({ req, env }) => serve(req.raw, env as HttpBindings)),
  );
  return { admit, dismiss };
}

/** An agent may hide what it is, as Codex does, or call through a program of the user. Only another run is refused. */
function mayActFor(peer: LocalPeer, runId: string): boolean {
  if (peer.kind === 'run') return peer.runId === runId;
  if (peer.kind === 'unidentified') return [runId, 'unknown'].some((each) => peer.hidingIn?.includes(each));
  return true;
}

async function parsedBody(request: Request): Promise<unknown> {
  const text = await readBody(request).catch(() => '');
  if (text === null) return refuse('body_too_large', { headers: { connection: 'close' } });
  try {
    return parseJson(text);
  } catch {
    return refuse('bad_request');
  }
}

/** The library of the protocol is loaded for the first agent that uses it. */
function openOnFirstUse(options: McpEndpointOptions): McpEndpoint {
  let opened: Promise<McpEndpoint> | undefined;
  let isClosed = false;
  return {
    serve: async (request, body) => {
      opened ??= import('./mcp-endpoint.ts').then(({ openMcpEndpoint }) => openMcpEndpoint(options));
      const endpoint = await opened;
      return isClosed ? refuse('unauthorized', challenge) : endpoint.serve(request, body);
    },
    close: () => {
      isClosed = true;
      void opened?.then((endpoint) => endpoint.close());
    },
  };
}
