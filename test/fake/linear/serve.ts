import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { FakeAnswer, FakeRequest } from './answer-request.ts';

export interface Listener {
  readonly port: number;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Carries requests to a handler and its answers back, as far as they get. */
export async function listen(
  handle: (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>,
  port: number,
): Promise<Listener> {
  const server = createServer((request, response) => {
    carry(handle, request, response).catch((error: unknown) => {
      // The client went away, or the handler is broken; the second must be seen.
      if (response.destroyed) return;
      response.writeHead(500, { 'content-type': 'text/plain' }).end(String(error));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The fake Linear has no port.');
  return {
    port: address.port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function carry(
  handle: (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request);
  const answer = await handle({ method: request.method ?? '', headers: plainHeaders(request), body });
  if (answer.cut === 'refused' || answer.cut === 'before_head') {
    request.socket.destroy();
    return;
  }
  const bytes = Buffer.from(answer.body);
  response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
  if (answer.cut === null) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => request.socket.destroy());
}

function plainHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}
