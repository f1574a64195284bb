import { Hono } from 'hono';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { ToolAddress, ToolHost, ToolSet } from '../core/tool-set.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { Listener } from './listener.ts';
import { type McpEndpoint, openMcpEndpoint } from './mcp-endpoint.ts';
import { readBody } from './read-body.ts';
import { refuse } from './refusal.ts';

export interface ToolHostOptions {
  readonly listener: Listener;
  readonly tokens: AccessTokens;
  readonly clock: Clock;
  readonly chance: Chance;
  /** How often a stream that waits for its response sends a keep-alive; by default every ten seconds. */
  readonly keepAliveMs?: number;
}

/** One path serves the tools of all live runs; the token says which run. */
const mcpPath = '/mcp';
const challenge = { headers: { 'www-authenticate': 'Bearer' } };

/**
 * The MCP endpoints of live runs, at `/mcp` of the listener. A token of the scope `run` opens the endpoint of its own
 * run and nothing else. The token is checked again after the body has arrived.
 */
export function createToolHost(options: ToolHostOptions): ToolHost {
  const { listener, tokens } = options;
  const endpoints = new Map<string, McpEndpoint>();

  const dismiss = (runId: string): void => {
    tokens.revoke({ scope: 'run', holder: runId });
    endpoints.get(runId)?.close();
    endpoints.delete(runId);
  };

  const admit = (runId: string, door: ToolSet): ToolAddress => {
    dismiss(runId);
    endpoints.set(runId, openMcpEndpoint({ ...options, door }));
    return { url: `${listener.address.url}${mcpPath}`, token: tokens.issue({ scope: 'run', holder: runId }) };
  };

  /** Returns the endpoint of the caller, or the error response when the caller has none. */
  const endpointOf = (request: Request): McpEndpoint | Response => {
    const found = tokens.find(request.headers.get('authorization'));
    if (found !== null && found.scope !== 'run') return refuse('forbidden');
    const endpoint = found === null ? undefined : endpoints.get(found.holder);
    return endpoint ?? refuse('unauthorized', challenge);
  };

  const serve = async (request: Request): Promise<Response> => {
    const endpoint = endpointOf(request);
    if (endpoint instanceof Response) return endpoint;
    const body = request.method === 'POST' ? await parsedBody(request) : undefined;
    if (body instanceof Response) return body;
    // The run may have ended while the request came in.
    return endpointOf(request) === endpoint ? endpoint.serve(request, body) : refuse('unauthorized', challenge);
  };

  listener.mount(
    mcpPath,
    new Hono().on(['GET', 'POST', 'DELETE'], '/', (context) => serve(context.req.raw)),
  );
  return { admit, dismiss };
}

async function parsedBody(request: Request): Promise<unknown> {
  const text = await readBody(request).catch(() => '');
  if (text === null) return refuse('body_too_large', { headers: { connection: 'close' } });
  try {
    return JSON.parse(text);
  } catch {
    return refuse('bad_request');
  }
}
