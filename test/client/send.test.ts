import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { callerProof, proofPortPath } from '../../src/client/local-headers.ts';
import { overSocket } from '../../src/client/send.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';

/** A daemon that gives these proofs, one after the other; gives what the request showed, and how often it was asked. */
async function shownWith(...proofs: readonly string[]) {
  let asked = 0;
  const given = createServer((socket) => {
    socket.on('error', () => {}).end(proofs[asked] ?? '');
    asked += 1;
  });
  await new Promise<void>((resolve) => given.listen(0, '127.0.0.1', resolve));
  const { port } = given.address() as AddressInfo;
  let shown: string | null = null;
  const api = createHttpServer((request, response) => {
    if (request.url === proofPortPath) return response.end(JSON.stringify({ port }));
    shown = request.headers[callerProof]?.toString() ?? null;
    return response.end('{}');
  });
  const socketPath = path.join(scratchFolder(), 's');
  await new Promise<void>((resolve) => api.listen(socketPath, resolve));
  await overSocket(socketPath, systemClock)({ method: 'GET', path: '/', headers: {}, limitMs: 20_000 });
  api.close();
  given.close();
  return { shown, asked };
}

it.each([
  ['shows the proof that the daemon gave', ['a'], { shown: 'a', asked: 1 }],
  ['goes on without a proof where the daemon gives none', ['', 'b'], { shown: null, asked: 1 }],
])('a client of the local socket %s', async (_what, proofs, expected) => {
  expect(await shownWith(...proofs)).toEqual(expected);
});
