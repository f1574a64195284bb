import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { builtProgram, compileCache } from '../built-baton.ts';

/** A second process that has the store open (see store-program.ts). */
export interface Program {
  readonly pid: number;
  /** What it has said so far. */
  readonly lines: readonly string[];
  /** Resolves when it has said so many lines, or has ended. */
  said(count: number): Promise<void>;
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>;
  /** `kill -9`. Resolves when it is gone and all it said was read. */
  kill(): Promise<void>;
}

export function startProgram(...args: readonly string[]): Program {
  const child = spawn(process.execPath, [builtProgram('store/other'), ...args], {
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const ended = Promise.all([closed(child), once(reader, 'close')]).then(() => {
    for (const look of waiting) look();
  });
  let over = false;
  void ended.then(() => {
    over = true;
  });
  return {
    pid: child.pid ?? 0,
    lines,
    said: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (lines.length < count && !over) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        void ended.then(() => resolve());
        look();
      }),
    stop: async () => {
      child.stdin.end();
      await ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function closed(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once('close', resolve));
}
