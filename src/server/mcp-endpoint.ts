import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { ToolSet } from '../core/tool-set.ts';
import { createMcpTools } from './mcp-tools.ts';

export interface McpEndpointOptions {
  readonly door: ToolSet;
  readonly clock: Clock;
  readonly chance: Chance;
  /** How often a stream that waits for its response sends a keep-alive. */
  readonly keepAliveMs?: number;
}

/**
 * The MCP endpoint of one run (streamable HTTP), for both protocol versions. Since 2026-07-28 each request stands
 * alone. Before that, a client opens sessions, and may open several and never close them. What must hold:
 *
 * - An endpoint has a bounded number of sessions. A new session replaces the least recently used one that has no call
 *   in progress. The client of the replaced session gets 404 and starts again, as the protocol says.
 * - A response that takes minutes is a stream with a keep-alive every few seconds, so that no proxy cuts it.
 * - After `close` no call starts. Calls in progress are aborted and get their response; then everything is released.
 */
export interface McpEndpoint {
  /** `body` is the parsed body of a POST. */
  serve(request: Request, body: unknown): Promise<Response>;
  close(): void;
}

/** More than any agent opens at once. */
const mostSessions = 16;
const usualKeepAliveMs = 10_000;

interface McpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  /** Calls in progress. */
  calls: number;
}

export function openMcpEndpoint(options: McpEndpointOptions): McpEndpoint {
  const { door, clock, chance, keepAliveMs = usualKeepAliveMs } = options;
  const end = new AbortController();
  /** The most recently used session is last. */
  const sessions = new Map<string, McpSession>();
  const modern = createMcpHandler(() => createMcpTools({ door, clock, ended: end.signal }), {
    legacy: 'reject',
    responseMode: 'sse',
    keepAliveMs,
  });

  const closeSession = (id: string): void => {
    const session = sessions.get(id);
    sessions.delete(id);
    // Closing cuts streams that have no reader. A failure to close needs no handling.
    session?.server.close().catch(() => {});
  };

  const keep = (id: string, session: McpSession): void => {
    if (sessions.size >= mostSessions) {
      const known = [...sessions];
      const [unused] = known.find(([, { calls }]) => calls === 0) ?? known[0] ?? [];
      if (unused !== undefined) closeSession(unused);
    }
    sessions.set(id, session);
  };

  const openSession = async (): Promise<McpSession> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => chance.id(),
      onsessioninitialized: (id) => keep(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
      keepAliveMs,
    });
    const counted: ToolSet = {
      tools: door.tools,
      call: (...call) => {
        session.calls += 1;
        return door.call(...call).finally(() => {
          session.calls -= 1;
        });
      },
    };
    const server = createMcpTools({
      door: counted,
      clock,
      ended: end.signal,
      // An abandoned call gets no response, so its stream would stay open for nothing.
      onLeft: (requestId) => transport.closeSSEStream(requestId),
    });
    const session: McpSession = { transport, server, calls: 0 };
    await server.connect(transport);
    return session;
  };

  const serveSession = async (request: Request, body: unknown): Promise<Response> => {
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : sessions.get(id);
    if (id !== null && known !== undefined) {
      sessions.delete(id);
      sessions.set(id, known);
      return known.transport.handleRequest(request, { parsedBody: body });
    }
    if (id !== null) return sessionNotFound();
    // Only an initialize request registers the session. The transport refuses any other request, and the session is
    // dropped.
    const { transport } = await openSession();
    return transport.handleRequest(request, { parsedBody: body });
  };

  return {
    serve: async (request, body) =>
      (await isLegacyRequest(request, body))
        ? serveSession(request, body)
        : modern.fetch(request, { parsedBody: body }),
    close: () => {
      end.abort();
      // Responses to calls in progress go out first.
      clock.schedule(0, () => {
        for (const id of [...sessions.keys()]) closeSession(id);
        modern.close().catch(() => {});
      });
    },
  };
}

function sessionNotFound(): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code: -32_001, message: 'Session not found' }, id: null },
    { status: 404 },
  );
}
