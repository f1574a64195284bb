import { chmodSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { createConnection } from 'node:net';
import { BatonError } from '../core/baton-error.ts';
import { type ServedRoutes, type ServerOptions, serveHttp } from './listener.ts';

export interface LocalSocketOptions extends ServerOptions {
  readonly path: string;
}

/** No browser reaches a socket in a folder, so there is no foreign page to refuse; clients send this host. */
const rule = { isOwnHost: (host: string | null) => host === 'localhost', isOwnOrigin: () => true };

/**
 * HTTP on a socket in the state folder that only its user may open (0600). Routes mounted here receive `isLocal`, which
 * says that the caller used this socket.
 */
export async function openLocalSocket(options: LocalSocketOptions): Promise<ServedRoutes> {
  const { path } = options;
  const served = await serveHttp(
    options,
    async (server) => {
      await listen(server, path);
      return { rule };
    },
    true,
  );
  const close = async (): Promise<void> => {
    await served.close();
    rmSync(path, { force: true });
  };
  return { ...served, close, [Symbol.asyncDispose]: close };
}

async function listen(server: Server, path: string): Promise<void> {
  // The state folder is locked, so this is a second guard. A socket without a listener is left over from a killed
  // daemon.
  if (await hasListener(path)) throw new BatonError('local_socket_failed', `Another daemon listens at ${path}.`);
  try {
    rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    });
    chmodSync(path, 0o600);
  } catch (cause) {
    throw new BatonError('local_socket_failed', `The local socket ${path} cannot be opened.`, { cause });
  }
}

function hasListener(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(path);
    connection.once('error', () => resolve(false));
    connection.once('connect', () => {
      connection.destroy();
      resolve(true);
    });
  });
}
