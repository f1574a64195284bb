import { request as httpRequest } from 'node:http';
import { createConnection } from 'node:net';
import * as z from 'zod';
import { type Clock, timedOut, within } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import { callerProof, proofPortPath } from './local-headers.ts';

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

/** Sends to an API in this process, which always answers. */
export function inProcess(handle: (request: Request) => Promise<Response>): Send {
  return ({ method, path, headers, body }) =>
    handle(new Request(`http://localhost${path}`, { method, headers, ...(body === undefined ? {} : { body }) }));
}

const proofPort = z.object({ port: z.int().min(1).max(65_535) });

/**
 * Sends over the local socket of a daemon, with a proof that shows who calls (`server/local-proofs.ts`). A daemon
 * that was restarted does not know the proof any more; then a new one is fetched.
 */
export function overSocket(socketPath: string, clock: Clock): Send {
  let proof: Promise<string> | null = null;
  return async (request) => {
    proof ??= fetchProof(socketPath, clock, request.limitMs);
    const shown = await proof.catch((thrown: unknown) => {
      proof = null;
      throw thrown;
    });
    const answer = await sendOnce(socketPath, clock, withProof(request, shown));
    if (answer.status !== 401) return answer;
    proof = fetchProof(socketPath, clock, request.limitMs);
    return sendOnce(socketPath, clock, withProof(request, await proof));
  };
}

/** A daemon that cannot tell who calls gives no proof, and takes the caller for an agent. */
function withProof(request: ApiRequest, proof: string): ApiRequest {
  return proof === '' ? request : { ...request, headers: { ...request.headers, [callerProof]: proof } };
}

async function fetchProof(socketPath: string, clock: Clock, limitMs: number): Promise<string> {
  const answer = await sendOnce(socketPath, clock, { method: 'GET', path: proofPortPath, headers: {}, limitMs });
  const { data } = proofPort.safeParse(await answer.json().catch(() => null));
  if (data === undefined) return '';
  const connection = createConnection({ host: '127.0.0.1', port: data.port });
  const read = new Promise<string>((resolve, reject) => {
    let text = '';
    connection.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    connection.once('error', reject).once('close', () => resolve(text));
  });
  return inTime(clock, limitMs, read, () => connection.destroy());
}

function sendOnce(socketPath: string, clock: Clock, { method, path, headers, body, limitMs }: ApiRequest) {
  const request = httpRequest({ socketPath, method, path, headers: { host: 'localhost', ...headers }, agent: false });
  const answer = new Promise<Response>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve(new Response(Buffer.concat(chunks), { status: response.statusCode ?? 500 })));
    });
    request.end(body);
  });
  return inTime(clock, limitMs, answer, () => request.destroy());
}

/** Rejects with `daemon_unreachable` when the answer fails or does not come in time. */
async function inTime<T>(clock: Clock, limitMs: number, answer: Promise<T>, end: () => void): Promise<T> {
  // It may fail after the caller has given up on it.
  answer.catch(() => {});
  try {
    const found = await within(clock, limitMs, answer);
    if (found !== timedOut) return found;
  } catch (cause) {
    throw unreachable(cause);
  } finally {
    end();
  }
  throw unreachable(undefined);
}

function unreachable(cause: unknown): BatonError {
  return new BatonError('daemon_unreachable', 'No daemon answered on its local socket.', { cause });
}
