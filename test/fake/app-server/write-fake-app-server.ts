import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { builtProgram } from '../../built-baton.ts';
import type { Scenario } from './scenario.ts';

/** A frame that the fake was sent. The first of each process is `{ started: { argv, cwd, pid } }`. */
export interface TracedFrame {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly started?: { readonly argv: readonly string[]; readonly cwd: string; readonly pid: number };
}

export interface FakeAppServer {
  /** For `codex.command`. */
  readonly command: string;
  /** All messages to its processes so far, in order. */
  trace(): readonly TracedFrame[];
  /** The params of every request of this method. */
  sent(method: string): readonly Readonly<Record<string, unknown>>[];
  /** The answer to its own request with this id. */
  answerTo(id: number | string): TracedFrame | undefined;
}

/** Writes a scenario into a folder and returns the command that plays it. */
export function writeFakeAppServer(folder: string, scenario: Scenario): FakeAppServer {
  mkdirSync(folder, { recursive: true });
  const scenarioFile = path.join(folder, 'scenario.json');
  const traceFile = path.join(folder, 'trace.jsonl');
  writeFileSync(scenarioFile, JSON.stringify(scenario));
  const trace = (): readonly TracedFrame[] => {
    if (!existsSync(traceFile)) return [];
    const lines = readFileSync(traceFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    return lines.map((line): TracedFrame => JSON.parse(line));
  };
  return {
    command: [process.execPath, builtProgram('fake/app-server'), scenarioFile, traceFile]
      .map((word) => `'${word}'`)
      .join(' '),
    trace,
    sent: (method) => trace().flatMap((frame) => (frame.method === method ? [frame.params ?? {}] : [])),
    answerTo: (id) => trace().find((frame) => frame.method === undefined && frame.id === id),
  };
}
