import { connect, createServer, type Socket } from 'node:net';

/** A proxy between a daemon and its database that can be cut like a network: connections stay open, but no data passes. */
export interface CutProxy extends AsyncDisposable {
  /** The address of the database through the proxy. */
  readonly url: string;
  /** From now on no data passes in either direction, without any notice. */
  cut(): void;
  /** Delayed data passes, and all later data. */
  heal(): void;
}

export async function startCutProxy(databaseUrl: string): Promise<CutProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      // A socket that is not read fills up and its peer waits, so nothing is lost.
      if (isCut) from.pause();
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    if (isCut) for (const socket of [near, far]) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on a port');
  const url = new URL(databaseUrl);
  url.port = String(address.port);
  return {
    url: url.href,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    heal: () => {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
