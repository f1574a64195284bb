import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { builtProgram } from '../../built-baton.ts';
import type { Scenario } from './scenario.ts';

/** A message that the fake was sent. The first of each process is `{ started: { argv, cwd, pid } }`. */
export interface TracedMessage {
  readonly type?: string;
  readonly request?: Readonly<Record<string, unknown>>;
  readonly response?: { readonly response?: unknown; readonly error?: unknown };
  readonly message?: { readonly content: readonly { readonly text: string }[] };
  readonly started?: { readonly argv: readonly string[]; readonly cwd: string; readonly pid: number };
}

export interface FakeClaude {
  /** For `claude.command`. */
  readonly command: string;
  /** All messages to its processes so far, in order. */
  trace(): readonly TracedMessage[];
  /** The texts of the user. */
  said(): readonly string[];
  /** The answers to its own requests, in order. */
  answers(): readonly unknown[];
}

/** Writes a scenario into a folder and returns the command that plays it. */
export function writeFakeClaude(folder: string, scenario: Scenario): FakeClaude {
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
    command: [process.execPath, builtProgram('fake/claude-code'), scenarioFile, traceFile]
      .map((word) => `'${word}'`)
      .join(' '),
    trace,
    said: () => trace().flatMap(({ message }) => message?.content[0]?.text ?? []),
    answers: () => trace().flatMap(({ type, response }) => (type === 'control_response' ? [response] : [])),
  };
}
