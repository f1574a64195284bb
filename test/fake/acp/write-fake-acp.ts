import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { builtProgram } from '../../built-baton.ts';
import type { Scenario } from './scenario.ts';

/** A message that the fake was sent. The first of each process is `{ started: { cwd, pid } }`. */
export interface TracedMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly started?: { readonly cwd: string; readonly pid: number };
}

export interface FakeAcp {
  /** For `acp.command`. */
  readonly command: string;
  /** All messages to its processes so far, in order. */
  trace(): readonly TracedMessage[];
  /** The parameters of the requests and notifications with this method, in order. */
  asked(method: string): readonly Readonly<Record<string, unknown>>[];
  /** The answers to its own requests, in order. */
  answers(): readonly Pick<TracedMessage, 'result' | 'error'>[];
}

/** Writes a scenario into a folder and returns the command that plays it. */
export function writeFakeAcp(folder: string, scenario: Scenario): FakeAcp {
  mkdirSync(folder, { recursive: true });
  const scenarioFile = path.join(folder, 'scenario.json');
  const traceFile = path.join(folder, 'trace.jsonl');
  writeFileSync(scenarioFile, JSON.stringify(scenario));
  const trace = (): readonly TracedMessage[] => {
    if (!existsSync(traceFile)) return [];
    const lines = readFileSync(traceFile, 'utf8').split('\n');
    return lines.filter((line) => line !== '').map((line): TracedMessage => JSON.parse(line));
  };
  return {
    command: [process.execPath, builtProgram('fake/acp'), scenarioFile, traceFile].map((word) => `'${word}'`).join(' '),
    trace,
    asked: (method) => trace().flatMap((each) => (each.method === method ? [each.params ?? {}] : [])),
    answers: () =>
      trace()
        .filter(({ method, id }) => method === undefined && id !== undefined)
        .map(({ result, error }) => (error === undefined ? { result: result ?? {} } : { error })),
  };
}
