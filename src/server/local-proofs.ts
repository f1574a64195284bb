import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import { type FindPeer, findPeerOf, type LocalPeer } from './api/identify.ts';

/**
 * Tells who calls on the local socket. Node cannot ask the kernel for the process at the other end of a unix socket: it
 * has no SO_PEERCRED, and /proc/net/unix does not say which two ends belong together. For a TCP connection on the
 * loopback address /proc does say it. So a client of the socket also connects to this server, reads a proof from it,
 * and shows the proof with its requests. What must hold:
 *
 * - A proof is random and goes only to the process whose connection was checked. It stands for what that check found:
 *   the user, or a run. So an agent gets only proofs of its run, whatever its environment says.
 * - A caller that cannot be identified gets no proof. Without one it counts as an agent (`localCaller`).
 */
export interface LocalProofs extends AsyncDisposable {
  /** Of the loopback address. */
  readonly port: number;
  /** The holder of a proof; null for a proof that this daemon does not know. */
  find(proof: string): LocalPeer | null;
}

/** When there are more, the one that was not used for the longest time goes; its client gets a new one. */
const mostProofs = 1_000;
/** Each is open for as long as the check takes. */
const mostConnections = 200;
const readLimitMs = 5_000;

export async function openLocalProofs(findPeer: FindPeer, logger: Logger): Promise<LocalProofs> {
  const holders = new Map<string, LocalPeer>();
  const connections = new Set<Socket>();
  const answer = async (socket: Socket): Promise<void> => {
    const peer = await findPeerOf(socket, findPeer);
    if (peer.kind === 'unidentified' || peer.kind === 'other') return void socket.destroy();
    const proof = randomBytes(32).toString('base64url');
    holders.set(proof, peer);
    for (const oldest of [...holders.keys()].slice(0, Math.max(0, holders.size - mostProofs))) holders.delete(oldest);
    socket.setTimeout(readLimitMs, () => socket.destroy());
    socket.end(proof);
  };
  const server = createServer((socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    // The client went away. Whatever it sends is of no interest.
    socket.on('error', () => {}).resume();
    answer(socket).catch((error: unknown) => {
      logger.error('request_failed', { error });
      socket.destroy();
    });
  });
  server.maxConnections = mostConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new BatonError('listener_failed', 'Baton cannot listen on the loopback address.', { cause })),
    );
    server.listen({ host: '127.0.0.1', port: 0, exclusive: true }, resolve);
  });
  server.removeAllListeners('error').on('error', (error) => logger.warn('listener_error', { error }));
  return {
    // The server has no path and is not closed, so its address is a network address.
    port: (server.address() as AddressInfo).port,
    find: (proof) => {
      const peer = holders.get(proof);
      if (peer === undefined) return null;
      holders.delete(proof);
      holders.set(proof, peer);
      return peer;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}
