import { type ChildProcess, spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import type { Adapters } from '../../src/daemon/surroundings.ts';
import { builtProgram, compileCache } from '../built-baton.ts';

const open = new Set<Place>();

/** To be called once in a file: a test that ran out of time never comes to the end of its `using`. */
export function leaveNoPlaces(): void {
  afterAll(() => {
    for (const place of open) place[Symbol.dispose]();
  });
}

/** A folder with a home, a state folder and a place for temporary files that nobody else has. */
export class Place implements Disposable {
  readonly folder: string;
  readonly home: string;
  readonly temporary: string;
  readonly state: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called when the place goes, for what was started in this process. */
  readonly ends = new Set<() => void>();
  /** What a workflow file may name for commands in this process; undefined: what Baton lists. */
  adapters: Adapters | undefined;

  constructor(env: Record<string, string> = {}, within: string = tmpdir()) {
    this.folder = realpathSync(mkdtempSync(path.join(within, 'baton-cli-')));
    this.home = path.join(this.folder, 'home');
    this.temporary = path.join(this.folder, 'tmp');
    this.state = path.join(this.folder, 'state');
    for (const each of [this.home, this.temporary]) mkdirSync(each);
    open.add(this);
    this.env = {
      PATH: process.env.PATH,
      HOME: this.home,
      TMPDIR: this.temporary,
      XDG_STATE_HOME: this.state,
      NODE_COMPILE_CACHE: compileCache,
      ...env,
    };
  }

  /** Writes a file below the folder and tells its path. */
  write(name: string, content: string | Uint8Array): string {
    const file = path.join(this.folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  /** As `write`, and nobody sees the file half written. */
  replace(name: string, content: string): void {
    renameSync(this.write(`${name}.new`, content), path.join(this.folder, name));
  }

  read(name: string): string {
    return readFileSync(path.join(this.folder, name), 'utf8');
  }

  /** The processes that were started from here, however far down: they have this home. */
  pids(): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => environmentOf(pid).includes(`HOME=${this.home}`));
  }

  /** Ends what a failed test has left, process by process. */
  [Symbol.dispose](): void {
    open.delete(this);
    for (const end of this.ends) end();
    for (const pid of this.pids()) kill(pid);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** It may have ended since it was found. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has.
  }
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningBaton {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Ended>;
}

/** Starts `baton` as a person would, in the folder of the place. */
export function startBaton(place: Place, ...args: string[]): RunningBaton {
  return startProgram(place, process.execPath, [builtProgram('cli/main'), ...args]);
}

/** Runs `baton` to its end. */
export function baton(place: Place, ...args: string[]): Promise<Ended> {
  return startBaton(place, ...args).ended;
}

/** The shell text that runs `baton`, for a test that needs a shell around it. */
export function batonCommand(...args: string[]): string {
  return [process.execPath, builtProgram('cli/main'), ...args].map((word) => `'${word}'`).join(' ');
}

export function startProgram(place: Place, file: string, args: readonly string[]): RunningBaton {
  // One that passes for an agent gets a session of its own: Baton takes every process in the session of an agent for one.
  const detached = (place.env.BATON_RUN_ID ?? place.env.BATON_DAEMON_ID) !== undefined;
  const child = spawn(file, args, { cwd: place.folder, env: place.env, stdio: ['ignore', 'pipe', 'pipe'], detached });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      texts[name] += chunk;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...texts }));
  });
  return { child, stdout: () => texts.stdout, stderr: () => texts.stderr, ended };
}

/** Each line as JSON; a line that is none fails the test. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** A workflow file for the memory tracker and the command agent, with its issues beside it. */
export function workflowText(command: string, more = ''): string {
  return [
    '---',
    'tracker: {kind: memory, provider: {issues_file: issues.json}}',
    'polling: {interval_ms: 100}',
    'workspace: {root: workspaces}',
    'agent:',
    '  backend: command',
    // Its script leaves signs next to the workflow file.
    '  isolation_write: [.]',
    `  command: ${JSON.stringify(command)}`,
    ...more.split('\n').filter(Boolean),
    '---',
    'Work on {{ issue.identifier }}: {{ issue.title }}',
  ].join('\n');
}
