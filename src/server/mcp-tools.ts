import { type CallToolResult, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { Clock } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { ToolDoor } from '../core/tool-door.ts';

export interface McpToolsOptions {
  readonly door: ToolDoor;
  readonly clock: Clock;
  /** Aborts when the run has ended: then every call is answered at once, and none begins. */
  readonly ended: AbortSignal;
  /** Nobody will hear the answer to this request any more. */
  readonly onLeft?: (requestId: string | number) => void;
}

/** How often a client that wants to know is told that its call still goes on. */
const progressEveryMs = 10_000;

/** An MCP server with the tools of one door and nothing else; made anew for each session. */
export function createMcpTools(options: McpToolsOptions): Server {
  const { door } = options;
  const server = new Server({ name: 'baton', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: door.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: 'object' },
    })),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    callTool(params.name, params.arguments ?? {}, context, options),
  );
  return server;
}

/** Settles when the tool has answered, the run has ended, or the client has gone away; a failure is an answer. */
async function callTool(
  name: string,
  input: unknown,
  { mcpReq, http }: ServerContext,
  { door, clock, ended, onLeft }: McpToolsOptions,
): Promise<CallToolResult> {
  // A client gives a call up by a message, or by closing the connection on which the answer would come.
  const left = AbortSignal.any([mcpReq.signal, ...(http?.req === undefined ? [] : [http.req.signal])]);
  const signal = AbortSignal.any([left, ended]);
  if (signal.aborted) return runHasEnded();
  const onLeave = (): void => onLeft?.(mcpReq.id);
  left.addEventListener('abort', onLeave);
  const heart = beat(clock, mcpReq);
  try {
    const answer = await Promise.race([door.call(name, input, signal), aborted(signal)]);
    if (answer === null) return runHasEnded();
    return { content: [{ type: 'text', text: answer.output }], isError: !answer.success };
  } finally {
    heart.stop();
    left.removeEventListener('abort', onLeave);
  }
}

/** Tells the client now and then that its call goes on, if it asked for that: some give up on what is silent. */
function beat(clock: Clock, { _meta, notify }: ServerContext['mcpReq']): { stop(): void } {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { stop: () => {} };
  let progress = 0;
  const next = (): { cancel(): void } =>
    clock.schedule(progressEveryMs, () => {
      progress += 1;
      // Where it cannot be told any more, the call itself is given up by its signal.
      notify({ method: 'notifications/progress', params: { progressToken, progress } }).catch(() => {});
      timer = next();
    });
  let timer = next();
  return { stop: () => timer.cancel() };
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}

function runHasEnded(): CallToolResult {
  const error = new BatonError('run_cancelled', 'The run has ended; nothing more is done for it.', {
    nextStep: 'Stop working.',
  });
  return { content: [{ type: 'text', text: JSON.stringify({ error }) }], isError: true };
}
