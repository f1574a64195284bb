import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A message of the protocol, in either direction. */
export interface Frame {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Codex driven by minimal code: for the cost of a turn without Baton, and for what Codex does by itself. */
export interface BareCodex extends AsyncDisposable {
  readonly child: ChildProcess;
  /** All messages from it, oldest first. */
  readonly heard: readonly Frame[];
  request(method: string, params: unknown): Promise<Frame>;
  /** The first matching message, received already or later. */
  waitFor(isWanted: (frame: Frame) => boolean): Promise<Frame>;
  /** Starts a turn and waits for its end; returns the `turn` of `turn/completed`. */
  runTurn(threadId: string, text: string, more?: Readonly<Record<string, unknown>>): Promise<BareTurn>;
}

export interface BareTurn {
  readonly id: string;
  readonly status: string;
  readonly error: unknown;
  readonly items: readonly { readonly type: string; readonly text?: string }[];
}

export interface BareCodexOptions {
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Before the name of the protocol. */
  readonly args?: readonly string[];
  /** The answer to a request of Codex; without one, Codex waits. */
  readonly answer?: (frame: Frame) => Record<string, unknown> | undefined;
}

/** How long Codex may take to exit after its input is closed. */
const patienceMs = 5_000;

export async function startBareCodex(options: BareCodexOptions): Promise<BareCodex> {
  const { program, cwd, env, args = [], answer } = options;
  const child = spawn(program, [...args, 'app-server'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  const heard: Frame[] = [];
  const waiting = new Set<(frame: Frame) => void>();
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`Codex ended by itself: ${code ?? signal}`);
  });
  // Waiters for a message get the error.
  ended.catch(() => {});
  const send = (frame: Readonly<Record<string, unknown>>): void => {
    child.stdin.write(`${JSON.stringify(frame)}\n`);
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const frame = JSON.parse(line) as Frame;
    heard.push(frame);
    if (frame.method !== undefined && frame.id !== undefined) {
      const result = answer?.(frame);
      if (result !== undefined) send({ id: frame.id, result });
    }
    for (const tell of waiting) tell(frame);
  });

  const waitFor = (isWanted: (frame: Frame) => boolean): Promise<Frame> => {
    const before = heard.find(isWanted);
    if (before !== undefined) return Promise.resolve(before);
    const heardLater = new Promise<Frame>((resolve) => {
      const tell = (frame: Frame): void => {
        if (!isWanted(frame)) return;
        waiting.delete(tell);
        resolve(frame);
      };
      waiting.add(tell);
    });
    return Promise.race([heardLater, ended]);
  };
  let lastId = 0;
  const request = (method: string, params: unknown): Promise<Frame> => {
    lastId += 1;
    const id = lastId;
    send({ id, method, params });
    return waitFor((frame) => frame.id === id && frame.method === undefined);
  };
  const runTurn: BareCodex['runTurn'] = async (threadId, text, more = {}) => {
    const started = await request('turn/start', {
      threadId,
      input: [{ type: 'text', text, text_elements: [] }],
      ...more,
    });
    const { id } = turnOf(started.result);
    const last = await waitFor(({ method, params }) => method === 'turn/completed' && turnOf(params).id === id);
    return turnOf(last.params);
  };

  const clientInfo = { name: 'bare', title: null, version: '0' };
  await request('initialize', { clientInfo, capabilities: { experimentalApi: true, requestAttestation: false } });
  send({ method: 'initialized' });
  return {
    child,
    heard,
    request,
    waitFor,
    runTurn,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.stdin.end();
      const kill = setTimeout(() => child.kill('SIGKILL'), patienceMs);
      await exited;
      clearTimeout(kill);
    },
  };
}

/** Starts Codex, runs one turn on a new thread and ends it: the baseline for Baton. */
export async function bareTurn(options: BareCodexOptions, text: string): Promise<BareTurn> {
  await using codex = await startBareCodex(options);
  // Awaited here: Codex ends when this function does.
  return await codex.runTurn(await startBareThread(codex, { cwd: options.cwd }), text);
}

export async function startBareThread(codex: BareCodex, params: Readonly<Record<string, unknown>>): Promise<string> {
  const { result, error } = await codex.request('thread/start', params);
  const thread = result?.thread as { readonly id: string } | undefined;
  if (thread === undefined) throw new Error(`Codex began no thread: ${error?.message}`);
  return thread.id;
}

function turnOf(holder: Record<string, unknown> | undefined): BareTurn {
  return holder?.turn as BareTurn;
}
