import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A real service on loopback that counts what reaches it. */
export interface ScratchService extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Connections that were made so far, and requests that came over them. */
  readonly seen: { connections: number; requests: number };
}

/** Speaks HTTP. */
export function httpService(listener: RequestListener): Promise<ScratchService> {
  const seen = { connections: 0, requests: 0 };
  const server = createServer((request, response) => {
    seen.requests += 1;
    listener(request, response);
  });
  server.keepAliveTimeout = 60_000;
  return listen(server, seen);
}

interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** Speaks HTTP over TLS. */
export function tlsService(identity: Identity, listener: RequestListener): Promise<ScratchService> {
  const seen = { connections: 0, requests: 0 };
  const server = createTlsServer(identity, (request, response) => {
    seen.requests += 1;
    listener(request, response);
  });
  return listen(server, seen);
}

/** A certificate for a host that nobody trusts by itself. */
export function selfSigned(host: string): Identity {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), 'baton-certificate-'));
  const [key, cert] = [path.join(folder.path, 'key.pem'), path.join(folder.path, 'cert.pem')];
  const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

/** Speaks whatever `talk` does; a piece that begins a request is counted as one. */
export function rawService(talk: (socket: Socket, said: string) => unknown): Promise<ScratchService> {
  const seen = { connections: 0, requests: 0 };
  const server = createNetServer((socket) => {
    socket.on('data', (piece) => {
      if (/^[A-Z]+ \S+ HTTP\/1\.1\r\n/.test(piece.toString('latin1'))) seen.requests += 1;
      void talk(socket, piece.toString('latin1'));
    });
  });
  return listen(server, seen);
}

async function listen(server: Server, seen: ScratchService['seen']): Promise<ScratchService> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    seen.connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
