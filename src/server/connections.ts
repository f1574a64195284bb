import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a listener. What must hold:
 *
 * - There are never more than `most`. When one more opens, the listener closes the oldest connection that no known
 *   caller uses, so strangers cannot keep known callers out by holding connections open.
 * - The listener cuts a client that does not read its response, and a stranger's connection that is idle for a few
 *   seconds.
 * - The listener never cuts a connection because Baton is slow to make the response.
 */
export interface ConnectionLimits {
  readonly most: number;
  /** The longest time in which a client reads nothing of a waiting response. */
  readonly unreadMs: number;
  /** The longest time that an idle connection of a stranger stays open. */
  readonly strangerIdleMs: number;
}

type Standing = 'known' | 'stranger';
const standings = new WeakMap<Socket, Standing>();

/** Marks the connection as used by a known caller, so that it is not closed for a new one. */
export function markKnown(socket: Socket): void {
  standings.set(socket, 'known');
}

/** Marks the connection as a stranger's, unless a known caller already uses it. */
export function markStranger(socket: Socket): void {
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
    // The timeout starts again whenever the client reads a part of the response.
    socket.setTimeout(unreadMs);
    response.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1));
    response.once('finish', () => {
      if (standings.get(socket) === 'stranger') socket.setTimeout(strangerIdleMs);
    });
  });

  // The socket was silent for its timeout: it is idle, or the client does not read. If neither holds, Baton is still
  // making the response.
  server.on('timeout', (socket) => {
    if (socket.writableLength > 0 || (underWay.get(socket) ?? 0) === 0) socket.destroy();
  });
}
