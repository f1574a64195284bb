import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Called with the running process. */
  readonly onStart?: (child: ChildProcess) => void;
}

/** Runs a program to its end. */
export async function runProgram(file: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: options.env ?? plainEnv(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk;
    });
  }
  options.onStart?.(child);
  const [code, signal] = await once(child, 'close');
  return { code, signal, ...texts };
}

/** The environment without what an npm or a test runner around us added. */
export function plainEnv(changes: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const added = /^(npm_|NODE_|VITEST|VITE_|TEST$|DEV$|PROD$|MODE$|BASE_URL$|SSR$)/;
  // How npm reaches its registry is the machine's own and stays.
  const kept = /^(npm_config_registry|NODE_EXTRA_CA_CERTS)$/i;
  const entries = Object.entries(process.env).filter(([key]) => kept.test(key) || !added.test(key));
  return { ...Object.fromEntries(entries), ...changes };
}

/** PATH with the folder of this Node first. */
export function pathStartingWith(node: string): string {
  return [path.dirname(node), ...pathFolders()].join(path.delimiter);
}

/** A Node on PATH that is too old for Baton but can set it up; null where there is none. */
export function findOldNode(): string | null {
  const found = pathFolders()
    .map((folder) => path.join(folder, 'node'))
    .find((file) => [20, 21, 22, 23].includes(majorOf(file) ?? 0));
  return found ?? null;
}

export function findOnPath(name: string): string {
  const found = pathFolders()
    .map((folder) => path.join(folder, name))
    .find((file) => fs.existsSync(file));
  if (found === undefined) throw new Error(`${name} is not on PATH`);
  return found;
}

function pathFolders(): string[] {
  return (process.env.PATH ?? '').split(path.delimiter);
}

function majorOf(node: string): number | null {
  if (!fs.existsSync(node)) return null;
  return Number(execFileSync(node, ['--print', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' }));
}
