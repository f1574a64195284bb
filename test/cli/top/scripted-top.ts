import { appendFileSync, readFileSync } from 'node:fs';
import { runTop } from '../../../src/cli/top/run-top.ts';
import type { TopSource } from '../../../src/cli/top/top-source.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { Scene } from './scene.ts';

/**
 * The terminal view on a daemon that is a file: `scene.json` in the current folder, read anew at each question. What is
 * asked for is added to `asked.jsonl`.
 */
const scene = (): Scene => JSON.parse(readFileSync('scene.json', 'utf8')) as Scene;

const source: TopSource = {
  address: scene().address,
  now: async () => {
    const { nows } = scene();
    if (nows === null) throw new Error('connect ENOENT \u001b[31mbaton.sock');
    return nows;
  },
  // The view takes no more of an issue than its questions and its explanation.
  issue: async () => scene().issue as unknown as Awaited<ReturnType<TopSource['issue']>>,
  events: async () => scene().events,
  log: () => {
    if (scene().isBroken) throw new Error('nobody expected this');
    return [];
  },
  submit: async (project, request) => {
    appendFileSync('asked.jsonl', `${JSON.stringify({ project, request })}\n`);
    return scene().answer;
  },
};

const terminal = {
  stdin: process.stdin,
  stdout: process.stdout,
  env: process.env,
  onSignal: (signal: NodeJS.Signals, listener: () => void) => {
    process.on(signal, listener);
    return () => void process.off(signal, listener);
  },
};

// As `main.ts` does: a reader who has gone is no error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
appendFileSync('pid', `${process.pid}`);
const before = process.cpuUsage();
const how = await runTop(source, terminal, systemClock).catch((error: Error) => `error ${error.message}`);
const { user, system } = process.cpuUsage(before);
appendFileSync('cpu', `${(user + system) / 1_000}`);
appendFileSync('how', how);
process.stdout.write(`ended: ${how}\n`);
