import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished } from 'vitest';

/** The program that makes a terminal. */
export const makeTerminal = '/usr/bin/script';

interface Person {
  /** Waits until this is on the terminal. */
  sees(text: string): Promise<void>;
  /** Presses a key until this is on the terminal: a key that comes too soon after a question is ignored. */
  presses(key: string, text: string): Promise<void>;
  types(text: string): void;
  readonly ended: Promise<number | null>;
}

/** Runs a line in a terminal, where `codex` is the program under test. */
export function openByHand(
  { folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
  program: string,
  line: string,
): Person {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(program, path.join(bin, 'codex'));
  const child = spawn(makeTerminal, ['-qfec', `stty cols 120 rows 40; ${line}`, '/dev/null'], {
    cwd: folder,
    env: { ...env, PATH: `${bin}:${process.env.PATH}`, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    // It may have the marks of a run, and Baton takes every program of its session for the agent of that run.
    detached: true,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let seen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
    // It asks for the position of the cursor, and a terminal answers.
    if (text.includes('\u001b[6n')) child.stdin.write('\u001b[1;1R');
  });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const sees: Person['sees'] = (text) => expect.poll(() => stripVTControlCharacters(seen)).toContain(text);
  return {
    sees,
    presses: async (key, text) => {
      const again = setInterval(() => child.stdin.write(key), 500);
      await sees(text).finally(() => clearInterval(again));
    },
    types: (text) => void child.stdin.write(text),
    ended,
  };
}
