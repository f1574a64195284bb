import { request as httpRequest } from 'node:http';
import { type Clock, timedOut, within } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** With its query, such as `/api/v1/projects`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How long to wait for the answer. */
  readonly limitMs: number;
}

/** Sends a request to the API and returns its response. Rejects with `daemon_unreachable` when nothing answers. */
export type Send = (request: ApiRequest) => Promise<Response>;

/** Sends over the local socket of a daemon. */
export function overSocket(socketPath: string, clock: Clock): Send {
  return async ({ method, path, headers, body, limitMs }) => {
    const request = httpRequest({ socketPath, method, path, headers: { host: 'localhost', ...headers }, agent: false });
    const answer = new Promise<Response>((resolve, reject) => {
      request.once('error', reject);
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve(new Response(Buffer.concat(chunks), { status: response.statusCode ?? 500 })),
        );
      });
      request.end(body);
    });
    // The request may fail after the caller has given up on it.
    answer.catch(() => {});
    try {
      const found = await within(clock, limitMs, answer);
      if (found !== timedOut) return found;
    } catch (cause) {
      throw unreachable(cause);
    } finally {
      request.destroy();
    }
    throw unreachable(undefined);
  };
}

function unreachable(cause: unknown): BatonError {
  return new BatonError('daemon_unreachable', 'No daemon answered on its local socket.', { cause });
}
