import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { ToolDoor } from '../core/tool-door.ts';
import { createMcpTools } from './mcp-tools.ts';

export interface McpDoorOptions {
  readonly door: ToolDoor;
  readonly clock: Clock;
  readonly chance: Chance;
  /** How often a stream without an answer gives a sign of life. */
  readonly keepAliveMs?: number;
}

/**
 * The tools of one run over MCP (streamable HTTP), for clients of both ages: since 2026-07-28 each request stands for
 * itself; before, a client opens a session, may open several, and may leave them lying. What must hold:
 *
 * - A door has a bounded number of sessions: a new one takes the place of the one that was not used for longest and has no
 *   call under way. Its client is answered 404 and begins again, as the protocol has it.
 * - An answer that takes minutes is a stream with a sign of life every few seconds, so that nobody in between cuts it.
 * - After `close` no call begins. Those under way are told so, are answered, and everything is let go.
 */
export interface McpDoor {
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
  /** Calls under way. */
  calls: number;
}

export function openMcpDoor(options: McpDoorOptions): McpDoor {
  const { door, clock, chance, keepAliveMs = usualKeepAliveMs } = options;
  const end = new AbortController();
  /** The one used last is the last. */
  const sessions = new Map<string, McpSession>();
  const modern = createMcpHandler(() => createMcpTools({ door, clock, ended: end.signal }), {
    legacy: 'reject',
    responseMode: 'sse',
    keepAliveMs,
  });

  const letGo = (id: string): void => {
    const session = sessions.get(id);
    sessions.delete(id);
    // Closing cuts streams that nobody reads; there is nothing to be done about a failure.
    session?.server.close().catch(() => {});
  };

  const keep = (id: string, session: McpSession): void => {
    if (sessions.size >= mostSessions) {
      const known = [...sessions];
      const [unused] = known.find(([, { calls }]) => calls === 0) ?? known[0] ?? [];
      if (unused !== undefined) letGo(unused);
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
    const counted: ToolDoor = {
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
      // A call that was given up gets no answer; its stream would stay open for nothing.
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
    // Only a request to begin makes it a session; anything else is refused by it, and it is forgotten.
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
      // First the answers of the calls under way leave.
      clock.schedule(0, () => {
        for (const id of [...sessions.keys()]) letGo(id);
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
