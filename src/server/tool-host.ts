import { Hono } from 'hono';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { ToolAddress, ToolDoor, ToolHost } from '../core/tool-door.ts';
import type { AccessTokens } from './access-tokens.ts';
import type { Listener } from './listener.ts';
import { type McpDoor, openMcpDoor } from './mcp-door.ts';
import { readBody } from './read-body.ts';
import { refuse } from './refusal.ts';

export interface ToolHostOptions {
  readonly listener: Listener;
  readonly tokens: AccessTokens;
  readonly clock: Clock;
  readonly chance: Chance;
  /** How often a stream without an answer gives a sign of life; every ten seconds unless told otherwise. */
  readonly keepAliveMs?: number;
}

/** Where the tools of all live runs are; which run's, the token says. */
const mcpPath = '/mcp';
const challenge = { headers: { 'www-authenticate': 'Bearer' } };

/**
 * The doors of live runs, over MCP at `/mcp` of the listener. A token of the scope `run` opens the door of its own run
 * and nothing else; that it is still good is looked at again after everything that was waited for.
 */
export function createToolHost(options: ToolHostOptions): ToolHost {
  const { listener, tokens } = options;
  const doors = new Map<string, McpDoor>();

  const dismiss = (runId: string): void => {
    tokens.revoke({ scope: 'run', holder: runId });
    doors.get(runId)?.close();
    doors.delete(runId);
  };

  const admit = (runId: string, door: ToolDoor): ToolAddress => {
    dismiss(runId);
    doors.set(runId, openMcpDoor({ ...options, door }));
    return { url: `${listener.address.url}${mcpPath}`, token: tokens.issue({ scope: 'run', holder: runId }) };
  };

  /** The door of whoever sends this, or the answer to somebody who has none. */
  const doorOf = (request: Request): McpDoor | Response => {
    const found = tokens.find(request.headers.get('authorization'));
    if (found !== null && found.scope !== 'run') return refuse('forbidden');
    const door = found === null ? undefined : doors.get(found.holder);
    return door ?? refuse('unauthorized', challenge);
  };

  const serve = async (request: Request): Promise<Response> => {
    const door = doorOf(request);
    if (door instanceof Response) return door;
    const body = request.method === 'POST' ? await parsedBody(request) : undefined;
    if (body instanceof Response) return body;
    // The run may have ended while its request came in.
    return doorOf(request) === door ? door.serve(request, body) : refuse('unauthorized', challenge);
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
