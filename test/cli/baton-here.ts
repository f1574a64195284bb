import { hostname, userInfo } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Output, Surroundings } from '../../src/daemon/surroundings.ts';
import { builtProgram } from '../built-baton.ts';
import { until } from '../process/real-children.ts';
import type { Ended, Place } from './run-baton.ts';

const root = new URL('../../', import.meta.url);
/** Long enough for a busy machine; nothing here measures time. */
const patienceMs = 60_000;

/**
 * Runs a command of `baton` in this process, for what sets a scene or asks what became of it: a process for each costs
 * more than most commands do. It must be one that ends by itself. That each command does so, as a process, is shown by
 * `every-command.test.ts`.
 */
export async function batonHere(place: Place, ...args: string[]): Promise<Ended> {
  const { surroundings, texts } = surroundingsIn(place);
  return { code: await runCommandLine(args, surroundings), signal: null, ...texts };
}

/** The same with a text on its standard input. */
export async function batonWithInput(place: Place, input: string, ...args: string[]): Promise<Ended> {
  const { surroundings, texts } = surroundingsIn(place, { stdin: inputOf(input) });
  return { code: await runCommandLine(args, surroundings), signal: null, ...texts };
}

/** A command in this process, with a person at its terminal. */
export interface Terminal {
  stdout(): string;
  /** Types a line and its end. */
  type(line: string): void;
  readonly ended: Promise<Ended>;
}

/** As `batonHere`, for a command that asks a person. */
export function batonAtTerminal(place: Place, ...args: string[]): Terminal {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  place.ends.add(() => stdin.end());
  const { surroundings, texts } = surroundingsIn(place, { stdin: stdin as unknown as NodeJS.ReadStream }, true);
  const ended = runCommandLine(args, surroundings).then((code) => ({ code, signal: null, ...texts }));
  return { stdout: () => texts.stdout, type: (line) => stdin.write(`${line}\n`), ended };
}

/** A daemon in this process. */
export interface DaemonHere {
  stderr(): string;
  /** As the first Ctrl-C does; resolves when nothing of it is left. */
  stop(): Promise<void>;
}

/**
 * Starts a daemon in this process; resolves when it is at work. It is for tests of what a daemon shows: signals, streams,
 * exit codes, containment and crashes need a process of its own (`startDaemon` in live-daemon.ts). It ends with its place,
 * at the latest.
 */
export async function daemonHere(place: Place, ...args: string[]): Promise<DaemonHere> {
  const listeners = new Set<() => void>();
  const { surroundings, texts } = surroundingsIn(place, {
    onSignal: (signal, listener) => {
      if (signal !== 'SIGINT') return () => {};
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  let code: number | null = null;
  const ended = runCommandLine(['start', ...args], surroundings).then((given) => {
    code = given;
  });
  const askToStop = (): void => {
    for (const listener of [...listeners]) listener();
  };
  place.ends.add(askToStop);
  const stop = async (): Promise<void> => {
    place.ends.delete(askToStop);
    askToStop();
    await ended;
    expect({ code, stderr: code === 0 ? '' : texts.stderr }).toEqual({ code: 0, stderr: '' });
  };
  const isAtWork = (): boolean => texts.stderr.includes('"orchestrator_started"');
  await until(() => isAtWork() || code !== null, 'the daemon is at work', patienceMs);
  expect(code, texts.stderr).toBeNull();
  return { stderr: () => texts.stderr, stop };
}

function surroundingsIn(place: Place, more: Partial<Surroundings> = {}, isTTY = false) {
  const texts = { stdout: '', stderr: '' };
  const output = (name: keyof typeof texts): Output => {
    const write = (text: string | Uint8Array, done?: () => void): boolean => {
      texts[name] += text;
      done?.();
      return true;
    };
    // The part of a stream that commands use.
    return { write, isTTY, writableLength: 0, once: () => {}, on: () => {} } as unknown as Output;
  };
  const surroundings: Surroundings = {
    clock: systemClock,
    chance: systemChance,
    env: place.env,
    cwd: place.folder,
    homeDir: place.home,
    tmpDir: place.temporary,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    uid: process.getuid?.() ?? null,
    hostName: hostname(),
    userName: userName(),
    // Nothing comes from it, and no person is there.
    stdin: inputOf(),
    stdout: output('stdout'),
    stderr: output('stderr'),
    // As an installed one: printed commands are short.
    batonPath: 'baton',
    nodePath: process.execPath,
    nodeVersion: process.versions.node,
    platform: process.platform,
    version: '0.0.0',
    agentProgram,
    dashboardFolder: new URL('dist/dashboard/', root),
    closeInherited: () => {},
    interrupt: () => {},
    onSignal: () => () => {},
    ...(place.adapters === undefined ? {} : { adapters: place.adapters }),
    ...more,
  };
  return { surroundings, texts };
}

function inputOf(...texts: readonly string[]): NodeJS.ReadStream {
  return Object.assign(Readable.from(texts), { isTTY: false }) as unknown as NodeJS.ReadStream;
}

function agentProgram(backend: string): URL {
  const program = builtProgram('cli/main');
  return new URL(`../agent/${backend}/program${path.extname(program)}`, pathToFileURL(program));
}

/** The ordinary user of the attacks has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}
