import { type CallToolResult, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { Clock } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { ToolSet } from '../core/tool-set.ts';

export interface McpToolsOptions {
  readonly door: ToolSet;
  readonly clock: Clock;
  /** Aborts when the run has ended: then every call is answered at once, and no new call starts. */
  readonly ended: AbortSignal;
  /** Called when the client no longer waits for the answer to this request. */
  readonly onLeft?: (requestId: string | number) => void;
}

/** How often a client that asked for progress gets a notification that its call is still running. */
const progressEveryMs = 10_000;

/** An MCP server with the tools of one run and nothing else. Each session has its own. */
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

/**
 * Settles when the tool has answered, the run has ended or the client has disconnected. A failure is returned, not
 * thrown.
 */
async function callTool(
  name: string,
  input: unknown,
  { mcpReq, http }: ServerContext,
  { door, clock, ended, onLeft }: McpToolsOptions,
): Promise<CallToolResult> {
  // A client cancels a call by a message, or by closing the connection that the answer would use.
  const left = AbortSignal.any([mcpReq.signal, ...(http?.req === undefined ? [] : [http.req.signal])]);
  const signal = AbortSignal.any([left, ended]);
  if (signal.aborted) return runHasEnded();
  const onLeave = (): void => onLeft?.(mcpReq.id);
  left.addEventListener('abort', onLeave);
  const progress = reportProgress(clock, mcpReq);
  try {
    const answer = await Promise.race([door.call(name, input, signal), aborted(signal)]);
    if (answer === null) return runHasEnded();
    return { content: [{ type: 'text', text: answer.output }], isError: !answer.success };
  } finally {
    progress.stop();
    left.removeEventListener('abort', onLeave);
  }
}

/** Sends progress notifications to a client that asked for them: some clients give up on a silent call. */
function reportProgress(clock: Clock, { _meta, notify }: ServerContext['mcpReq']): { stop(): void } {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return { stop: () => {} };
  let progress = 0;
  const next = (): { cancel(): void } =>
    clock.schedule(progressEveryMs, () => {
      progress += 1;
      // When the client cannot be reached, its signal aborts the call itself.
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
  const error = new BatonError('run_cancelled', 'The run has ended, so Baton did not carry out this call.', {
    nextStep: 'Stop working.',
  });
  return { content: [{ type: 'text', text: JSON.stringify({ error }) }], isError: true };
}
