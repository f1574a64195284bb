/**
 * A scripted Codex app-server: `node program.ts SCENARIO.json TRACE.jsonl`. It speaks the protocol over its standard
 * streams, writes every line it gets to the trace (and its own arguments, directory and pid as the first one), answers by
 * method with the id it was given, and plays the steps of its scenario in each turn. `scenario.ts` says what there is.
 */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, ScriptedTurn, Step } from './scenario.ts';

type Json = Record<string, unknown>;

const [scenarioFile = '', traceFile = '', ...rest] = process.argv.slice(2);
const scenario: Scenario = JSON.parse(readFileSync(scenarioFile, 'utf8'));
trace({ started: { argv: rest, cwd: process.cwd(), pid: process.pid } });

let thread = '';
let turn = '';
let turns = 0;
let interrupted = Promise.withResolvers<void>();
let answerText = '';
let pendingStart: (() => void) | null = null;
const answers = new Map<string, (answer: Json) => void>();

if (scenario.isStubborn) for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

createInterface({ input: process.stdin })
  .on('line', (line) => {
    let frame: Json;
    try {
      frame = JSON.parse(line) as Json;
    } catch {
      trace({ garbage: line });
      return;
    }
    trace(frame);
    if (typeof frame.method !== 'string') answers.get(JSON.stringify(frame.id))?.(frame);
    else if (frame.id !== undefined) void serve(frame.id, frame.method, (frame.params ?? {}) as Json);
  })
  .on('close', () => {
    if (scenario.isStubborn) setInterval(() => {}, 60_000);
    else process.exit(0);
  });

async function serve(id: unknown, method: string, params: Json): Promise<void> {
  for (const step of scenario.before?.[method] ?? []) await play(step);
  const scripted = scenario.answers?.[method];
  if (scripted === 'silence') return;
  if (scripted !== undefined && 'error' in scripted) return send({ id, error: scripted.error });
  if (method === 'turn/start') return startTurn(id, params, scripted?.result);
  const answer = scripted ?? ordinaryAnswer(method, params);
  send({ id, ...answer });
  if (method === 'turn/interrupt') {
    if (turn !== '') end('interrupted', null);
    interrupted.resolve();
  }
  if (method === 'thread/compact/start' && scripted === undefined) compact();
}

function ordinaryAnswer(method: string, params: Json): { result: unknown } | { error: unknown } {
  switch (method) {
    case 'initialize':
      return {
        result: { userAgent: 'fake/0.0.0', codexHome: '/nowhere', platformFamily: 'unix', platformOs: 'linux' },
      };
    case 'thread/start':
      return openThread(`thread-${process.pid}-${Math.trunc(performance.now() * 1000)}`);
    case 'thread/resume':
      return knows(String(params.threadId)) ? openThread(String(params.threadId)) : noRollout(String(params.threadId));
    case 'turn/steer':
      return turn === '' ? refusal('no active turn to steer') : { result: { turnId: turn } };
    case 'turn/interrupt':
      return turn === '' ? refusal('no active turn to interrupt') : { result: {} };
    default:
      return { result: {} };
  }
}

const refusal = (message: string): { error: unknown } => ({ error: { code: -32_600, message } });
const noRollout = (id: string): { error: unknown } => refusal(`no rollout found for thread id ${id}`);

function knows(id: string): boolean {
  return scenario.home === undefined || existsSync(path.join(scenario.home, `${id}.thread`));
}

function openThread(id: string): { result: unknown } {
  thread = id;
  if (scenario.home !== undefined) {
    mkdirSync(scenario.home, { recursive: true });
    writeFileSync(path.join(scenario.home, `${id}.thread`), '');
  }
  return { result: { thread: { id, status: { type: 'idle' } }, model: 'fake-model', cwd: process.cwd() } };
}

async function startTurn(id: unknown, params: Json, result: unknown): Promise<void> {
  turns += 1;
  const script = choose(promptIn(params));
  turn = `turn-${process.pid}-${turns}`;
  interrupted = Promise.withResolvers();
  const mine = turn;
  pendingStart = () =>
    send({ id, result: result ?? { turn: { id: mine, status: 'inProgress', items: [], error: null } } });
  if (!script.steps.some((step) => 'answerStart' in step)) answerStart();
  for (const step of script.steps) {
    if (turn !== mine) return;
    await Promise.race([play(step), interrupted.promise]);
  }
  if (turn === mine) end('completed', null);
}

function answerStart(): void {
  pendingStart?.();
  pendingStart = null;
  notify('turn/started', { turn: { id: turn, status: 'inProgress', items: [], error: null } });
}

function choose(prompt: string): ScriptedTurn {
  const all = scenario.turns ?? [{ steps: [{ say: 'done' }] }];
  const matching = all.find(({ match }) => match !== undefined && prompt.includes(match));
  const inOrder = all.filter(({ match }) => match === undefined);
  const index = (scenario.acrossProcesses ? tracedTurns() : turns) - 1;
  return matching ?? inOrder[Math.min(index, inOrder.length - 1)] ?? { steps: [] };
}

function tracedTurns(): number {
  return readFileSync(traceFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"method":"turn/start"')).length;
}

function promptIn(params: Json): string {
  return (params.input as { text?: string }[] | undefined)?.map(({ text }) => text ?? '').join('\n') ?? '';
}

async function play(step: Step): Promise<void> {
  if ('ask' in step) await ask(step.ask);
  else if ('waitMs' in step) await sleep(step.waitMs);
  else if ('forever' in step) await new Promise(() => {});
  else if ('run' in step) spawnSync('sh', ['-c', step.run], { stdio: 'ignore' });
  else if ('grandchild' in step) spawn('sleep', ['300'], { stdio: 'ignore', detached: true }).unref();
  else if ('exit' in step) process.exit(step.exit);
  else if ('kill' in step) process.kill(process.pid, step.kill);
  else speak(step);
}

type Spoken = Extract<
  Step,
  | { send: unknown }
  | { raw: unknown }
  | { say: unknown }
  | { usage: unknown }
  | { usedUpForSeconds: unknown }
  | { stderr: unknown }
  | { complete: unknown }
  | { answerStart: unknown }
>;

function speak(step: Spoken): void {
  const again = (times: number | undefined, act: () => void): void => Array.from({ length: times ?? 1 }).forEach(act);
  if ('send' in step) again(step.times, () => send(step.send));
  else if ('raw' in step) again(step.times, () => put(step.raw));
  else if ('say' in step) say(filled(step.say) as string);
  else if ('stderr' in step) process.stderr.write(filled(step.stderr) as string);
  else if ('complete' in step) end(step.complete, step.error ?? null);
  else if ('answerStart' in step) answerStart();
  else if ('usedUpForSeconds' in step) tellQuota(step.usedUpForSeconds);
  else notify('thread/tokenUsage/updated', { turnId: turn, tokenUsage: { total: step.usage, last: step.last } });
}

function tellQuota(seconds: number): void {
  const resetsAt = Math.ceil(Date.now() / 1000) + seconds;
  const primary = { usedPercent: 100, windowDurationMins: 300, resetsAt };
  send({ method: 'account/rateLimits/updated', params: { rateLimits: { limitId: 'codex', primary } } });
}

async function ask({ id, method, params }: { id: number | string; method: string; params?: unknown }): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<Json>();
  answers.set(JSON.stringify(id), resolve);
  send({ id, method, params: { threadId: thread, turnId: turn, ...(params as Json | undefined) } });
  answerText = JSON.stringify(await promise);
  notify('serverRequest/resolved', { requestId: id });
}

function say(text: string): void {
  const id = `msg-${turns}-${text.length}`;
  notify('item/started', { turnId: turn, item: { type: 'agentMessage', id, text: '' } });
  if (text.length < 1000)
    for (const delta of text.split(/(?<= )/)) notify('item/agentMessage/delta', { turnId: turn, itemId: id, delta });
  notify('item/completed', { turnId: turn, item: { type: 'agentMessage', id, text } });
}

function compact(): void {
  turns += 1;
  turn = `turn-${process.pid}-${turns}`;
  notify('turn/started', { turn: { id: turn, status: 'inProgress' } });
  notify('item/completed', { turnId: turn, item: { type: 'contextCompaction', id: 'compaction' } });
  end('completed', null);
}

function end(status: string, error: unknown): void {
  const ended = turn;
  turn = '';
  notify('turn/completed', { turn: { id: ended, status, error, items: [] } });
}

function notify(method: string, params: Json): void {
  send({ method, params: { threadId: thread, ...params } });
}

function send(frame: object): void {
  put(`${JSON.stringify(filled(frame))}\n`);
}

/** Writes everything at once, however slow the reader is, so that a following exit loses nothing. */
function put(text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') process.exit(0);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function filled(value: unknown): unknown {
  if (typeof value === 'string') {
    return value
      .replaceAll('$thread', thread)
      .replaceAll('$turn', turn)
      .replaceAll('$answer', answerText)
      .replaceAll(/\$env:(\w+)/g, (_all, name) => process.env[name] ?? '');
  }
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each)]));
}

function trace(frame: object): void {
  appendFileSync(traceFile, `${JSON.stringify(frame)}\n`);
}
