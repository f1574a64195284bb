import { chmodSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { type Clock, timedOut, within } from '../clock/clock.ts';
import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';

/** What the daemon answers on its local socket. */
export interface LocalAnswers {
  /** Something was written to the store that concerns the daemon. */
  wake(): void;
  /** The store was put back to an earlier moment. */
  reload(): void;
  /** What is going on, as JSON data. */
  status(): unknown;
  /** Why an issue, by its id or identifier, starts or does not, as JSON data. May reject. */
  explain(issue: string): Promise<unknown>;
}

export interface LocalSocketOptions {
  readonly path: string;
  readonly answers: LocalAnswers;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A visitor that says nothing for this long is sent away. */
const patienceMs = 5_000;
/** An answer that needs the tracker is waited for this long; `ask-daemon.ts` waits longer. */
const answerMs = 15_000;
/** Requests are a few words; more is no request. */
const longestRequest = 4_096;
/** What an issue is called is shorter than this. */
const longestName = 500;

/**
 * The daemon's ear on its own machine: a socket in the state folder that only its user may open (0600). One line of JSON
 * asks, one line answers: `{"ask":"wake"}`, `{"ask":"reload"}`, `{"ask":"status"}`, `{"ask":"explain","issue":"BAT-1"}`.
 * It changes nothing by itself: changes are commands in the store, and this only says that there are some. Bad requests
 * are answered and end the connection; they never harm. `{"ok":false,"error":…}` refuses; where there was an answer to
 * look for and it could not be given, `failure` is the error with its code.
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
    // Who has asked may close his side before the answer is there.
    this.#server = createServer({ allowHalfOpen: true }, (visitor) => this.#receive(visitor));
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
    // The state folder is locked, so this is a second guard; a socket where nobody listens is left over from a kill.
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
    this.#server.on('error', (error) => logger.warn('local_socket_error', { error }));
  }

  #receive(visitor: Socket): void {
    const { clock, logger } = this.#options;
    this.#visitors.add(visitor);
    let end = clock.schedule(patienceMs, () => visitor.destroy());
    const waitAtMost = (limitMs: number): void => {
      end.cancel();
      if (!visitor.destroyed) end = clock.schedule(limitMs, () => visitor.destroy());
    };
    visitor.on('error', (error) => logger.debug('local_socket_client_error', { error }));
    visitor.on('close', () => {
      end.cancel();
      this.#visitors.delete(visitor);
    });
    let heard = 0;
    visitor.on('data', (chunk: Buffer) => {
      heard += chunk.length;
      if (heard > longestRequest) visitor.destroy();
    });
    let hasAsked = false;
    createInterface({ input: visitor })
      // It repeats the errors of the connection, and one that nobody hears would end the daemon.
      .on('error', () => visitor.destroy())
      .on('close', () => {
        if (!hasAsked) visitor.end();
      })
      .once('line', (line) => {
        hasAsked = true;
        // The daemon keeps the visitor waiting now, and after that he may take his time with the answer again.
        waitAtMost(answerMs + patienceMs);
        void this.#answer(line).then((answer) => {
          waitAtMost(patienceMs);
          visitor.end(`${JSON.stringify(answer)}\n`);
        });
      });
  }

  /** Never rejects. */
  async #answer(line: string): Promise<unknown> {
    const { clock, logger } = this.#options;
    try {
      const answer = await within(clock, answerMs, this.#answerTo(requestIn(line)));
      if (answer !== timedOut) return answer;
      throw new BatonError('tracker_request', 'The daemon still waits for its tracker.');
    } catch (thrown) {
      const failure = toBatonError(thrown);
      if (failure.code === 'internal_error') logger.error('local_socket_request_failed', { error: thrown });
      return { ok: false, error: failure.message, failure };
    }
  }

  async #answerTo({ ask, issue }: Request): Promise<unknown> {
    const { answers } = this.#options;
    switch (ask) {
      case 'wake':
        answers.wake();
        return { ok: true };
      case 'reload':
        answers.reload();
        return { ok: true };
      case 'status':
        return { ok: true, status: answers.status() };
      case 'explain':
        if (typeof issue !== 'string' || issue.trim() === '' || issue.length > longestName)
          throw refused('issue', `"explain" needs "issue", a text of at most ${longestName} characters`);
        return { ok: true, explanation: await answers.explain(issue.trim()) };
      default:
        throw refused('ask', 'ask for "wake", "reload", "status" or "explain"');
    }
  }
}

function refused(field: keyof Request, why: string): BatonError {
  return new BatonError('command_refused', why, { details: { field } });
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

/** What somebody said; nothing of it is known to be right. */
interface Request {
  readonly ask?: unknown;
  readonly issue?: unknown;
}

function requestIn(line: string): Request {
  try {
    const request: unknown = JSON.parse(line);
    return typeof request === 'object' && request !== null ? request : {};
  } catch {
    return {};
  }
}
