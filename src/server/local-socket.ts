import { chmodSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type Clock, sleep } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';

/** What the daemon answers on its local socket. */
export interface LocalAnswers {
  /** Something was written to the store that concerns the daemon. */
  wake(): void;
  /** The store was put back to an earlier moment. */
  reload(): void;
  /** What is going on, as JSON data. */
  status(): unknown;
}

export interface LocalSocketOptions {
  readonly path: string;
  readonly answers: LocalAnswers;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A visitor that says nothing for this long is sent away. */
const patienceMs = 5_000;
/** Requests are a few words; more is no request. */
const longestRequest = 4_096;

/**
 * The daemon's ear on its own machine: a socket in the state folder that only its user may open (0600). One line of JSON
 * asks, one line answers: `{"ask":"wake"}`, `{"ask":"reload"}`, `{"ask":"status"}`. It changes nothing by itself: changes are commands in the
 * store, and this only says that there are some. Bad requests are answered and end the connection; they never harm.
 */
export class LocalSocket implements AsyncDisposable {
  readonly #server: Server;
  readonly #options: LocalSocketOptions;
  readonly #visitors = new Set<Socket>();

  static async open(options: LocalSocketOptions): Promise<LocalSocket> {
    const socket = new LocalSocket(options);
    await socket.#listen();
    return socket;
  }

  private constructor(options: LocalSocketOptions) {
    this.#options = options;
    this.#server = createServer((visitor) => this.#receive(visitor));
  }

  async close(): Promise<void> {
    for (const visitor of this.#visitors) visitor.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    rmSync(this.#options.path, { force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #listen(): Promise<void> {
    const { path, logger } = this.#options;
    // A store of its own does not make a daemon the only one of its state folder; a socket where nobody listens is left over.
    if (await hasListener(path)) throw new BatonError('local_socket_failed', `Another daemon listens at ${path}.`);
    try {
      rmSync(path, { force: true });
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject);
        this.#server.listen(path, resolve);
      });
      chmodSync(path, 0o600);
    } catch (cause) {
      throw new BatonError('local_socket_failed', `The local socket ${path} cannot be opened.`, { cause });
    }
    this.#server.on('error', (error) => logger.warn('The local socket has a problem.', { error }));
  }

  #receive(visitor: Socket): void {
    const { clock, logger } = this.#options;
    this.#visitors.add(visitor);
    const leave = new AbortController();
    sleep(clock, patienceMs, leave.signal).then(
      () => visitor.destroy(),
      () => {
        // The visitor left first.
      },
    );
    visitor.on('error', (error) => logger.debug('A visitor of the local socket left badly.', { error }));
    visitor.on('close', () => {
      leave.abort();
      this.#visitors.delete(visitor);
    });
    let heard = 0;
    visitor.on('data', (chunk: Buffer) => {
      heard += chunk.length;
      if (heard > longestRequest) visitor.destroy();
    });
    createInterface({ input: visitor })
      // It repeats the errors of the connection, and one that nobody hears would end the daemon.
      .on('error', () => visitor.destroy())
      .once('line', (line) => visitor.end(`${JSON.stringify(this.#answer(line))}\n`));
  }

  #answer(line: string): unknown {
    const { answers } = this.#options;
    switch (askedFor(line)) {
      case 'wake':
        answers.wake();
        return { ok: true };
      case 'reload':
        answers.reload();
        return { ok: true };
      case 'status':
        return { ok: true, status: answers.status() };
      default:
        return { ok: false, error: 'ask for "wake", "reload" or "status"' };
    }
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

function askedFor(line: string): unknown {
  try {
    const request: unknown = JSON.parse(line);
    return typeof request === 'object' && request !== null && 'ask' in request ? request.ask : null;
  } catch {
    return null;
  }
}
