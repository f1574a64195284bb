import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface OpenListeners {
  readonly url: string;
  readonly count: number;
  /** `PROJECT/RUN`, which some of them want to hear of. */
  readonly runs: readonly string[];
  readonly withRuns: number;
  /** So many never read; they want to hear of the runs too. */
  readonly deaf: number;
}

export type ToldListener = ({ readonly ask: 'open' } & OpenListeners) | { readonly ask: 'close' | 'attend' | 'report' };

export interface ListenersReport {
  /** Connections that were not cut. */
  readonly open: number;
  /** Of those that read. */
  readonly hearing: number;
  /** Of those that do not read: how many were let go. */
  readonly deafCut: number;
  /** How many different things those that read know; one, when all know the same. */
  readonly states: number;
  /** How much the last that came knows. */
  readonly rows: number;
  /** Patches of the same number that were not the same to all. */
  readonly unlike: number;
  readonly bytes: number;
  readonly events: number;
  readonly runEvents: number;
}

/** Any number of listeners in one process of their own, so that what they do is not done by the daemon's. */
export class Listening implements AsyncDisposable {
  readonly #child: ChildProcess;

  constructor() {
    const program = fileURLToPath(new URL('./listening-program.ts', import.meta.url));
    this.#child = fork(program, { execArgv: [], serialization: 'json' });
  }

  /** Resolves when each that reads has heard its snapshot. */
  async open(listeners: OpenListeners): Promise<void> {
    await this.#ask({ ask: 'open', ...listeners });
  }

  async close(): Promise<void> {
    await this.#ask({ ask: 'close' });
  }

  /** Lets those read that did not: then it is seen which of them were let go. */
  async attend(): Promise<void> {
    await this.#ask({ ask: 'attend' });
  }

  async report(): Promise<ListenersReport> {
    return (await this.#ask({ ask: 'report' })) as ListenersReport;
  }

  async #ask(told: ToldListener): Promise<unknown> {
    const over = new AbortController();
    const { signal } = over;
    try {
      const answered = once(this.#child, 'message', { signal });
      const gone = once(this.#child, 'exit', { signal }).then(() => [{ error: 'the listeners are gone' }]);
      this.#child.send(told);
      const [{ done, error }] = (await Promise.race([answered, gone])) as [{ done?: unknown; error?: string }];
      for (const left of [answered, gone]) left.catch(() => {});
      if (error !== undefined) throw new Error(error);
      return done;
    } finally {
      over.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}
