import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a listener. What must hold:
 *
 * - There are never more than so many. When one more comes, the oldest of those for whom nobody vouched makes room, so that
 *   no stranger keeps out somebody who is known by holding connections.
 * - Whoever does not take his answer is cut; so is a stranger's connection that is idle for a few seconds.
 * - Nobody is cut because an answer takes its time to be made.
 */
export interface ConnectionLimits {
  readonly most: number;
  /** So long an answer may lie there without any of it being taken. */
  readonly unreadMs: number;
  /** So long a connection of a stranger is kept that is not used. */
  readonly strangerIdleMs: number;
}

type Standing = 'known' | 'stranger';
const standings = new WeakMap<Socket, Standing>();

/** Somebody who is known uses it: it stays. */
export function vouchFor(socket: Socket): void {
  standings.set(socket, 'known');
}

/** It is used, and nobody has shown who he is. */
export function mistrust(socket: Socket): void {
  if (!standings.has(socket)) standings.set(socket, 'stranger');
}

export function keepConnections(server: Server, { most, unreadMs, strangerIdleMs }: ConnectionLimits): void {
  /** The oldest first. */
  const open = new Set<Socket>();
  const underWay = new WeakMap<Socket, number>();

  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (open.size <= most) return;
    const [oldest = socket] = [...open].filter((each) => standings.get(each) !== 'known');
    oldest.destroy();
    open.delete(oldest);
  });

  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
    // Whenever something of the answer is taken, this begins anew.
    socket.setTimeout(unreadMs);
    response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    response.once('finish', () => {
      if (standings.get(socket) === 'stranger') socket.setTimeout(strangerIdleMs);
    });
  });

  // Nothing was read or taken for a while: either it is idle, or an answer lies there. Otherwise we are the ones who take long.
  server.on('timeout', (socket) => {
    if (socket.writableLength > 0 || (underWay.get(socket) ?? 0) === 0) socket.destroy();
  });
}
