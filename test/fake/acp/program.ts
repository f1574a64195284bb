/**
 * A scripted agent of the Agent Client Protocol: `node program.ts SCENARIO.json TRACE.jsonl`. It writes every line it
 * gets to the trace (and its directory and pid as the first one), and plays the steps of its scenario in each turn.
 * `scenario.ts` says what there is.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, ScriptedTurn, Step } from './scenario.ts';

type Json = Record<string, unknown>;

const [scenarioFile = '', traceFile = ''] = process.argv.slice(2);
const scenario: Scenario = JSON.parse(readFileSync(scenarioFile, 'utf8'));
trace({ started: { cwd: process.cwd(), pid: process.pid } });

let session = '';
let turns = 0;
let isBusy = false;
let requests = 0;
let answerText = '';
let terminal = '';
let cancelled = Promise.withResolvers<'cancelled'>();
const answers = new Map<number, (answer: Json) => void>();

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line) as Json;
    trace(message);
    if (message.method === undefined) answers.get(Number(message.id))?.(message);
    else hear(String(message.method), message.id, (message.params ?? {}) as Json);
  })
  .on('close', () => process.exit(0));

function hear(method: string, id: unknown, params: Json): void {
  const answer = (result: object): void => send({ id, result });
  const refusal = scenario.refuses?.[method];
  if (refusal !== undefined) {
    send({ id, error: refusal });
    return;
  }
  switch (method) {
    case 'initialize':
      if (scenario.initialize !== 'silence') answer(initialization());
      break;
    case 'session/new':
      session = randomUUID();
      answer({ sessionId: session, ...scenario.session });
      tellCommands();
      break;
    case 'session/load':
    case 'session/resume':
      resume(id, String(params.sessionId));
      break;
    case 'session/prompt':
      void work(id, params.prompt as { text: string }[]);
      break;
    case '_session/steering':
      answer({ outcome: isBusy ? 'injected' : 'promptRequired' });
      break;
    case 'session/cancel':
      if (!scenario.isStubborn) cancelled.resolve('cancelled');
      break;
    default:
      answer({});
  }
}

function initialization(): object {
  return {
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: true,
      mcpCapabilities: { http: true },
      sessionCapabilities: { resume: {}, additionalDirectories: {} },
    },
    agentInfo: { name: 'fake', version: '0.0.0' },
    authMethods: [],
    _meta: { steering: { supported: true } },
    ...(scenario.initialize === 'silence' ? {} : scenario.initialize),
  };
}

function resume(id: unknown, wanted: string): void {
  if (scenario.home !== undefined && !existsSync(fileOf(wanted))) {
    send({ id, error: { code: -32002, message: `No session found: ${wanted}` } });
    return;
  }
  session = wanted;
  for (const update of scenario.history ?? []) tell(update);
  send({ id, result: { ...scenario.session } });
  tellCommands();
}

function tellCommands(): void {
  const availableCommands = scenario.commands?.map((name) => ({ name, description: '' }));
  if (availableCommands !== undefined) tell({ sessionUpdate: 'available_commands_update', availableCommands });
}

async function work(id: unknown, prompt: readonly { readonly text: string }[]): Promise<void> {
  turns += 1;
  cancelled = Promise.withResolvers();
  if (scenario.home !== undefined) {
    mkdirSync(scenario.home, { recursive: true });
    writeFileSync(fileOf(session), '');
  }
  const { steps, alone = [] } = choose(prompt[0]?.text ?? '');
  isBusy = true;
  await playAll(id, steps);
  isBusy = false;
  cancelled = Promise.withResolvers();
  for (const step of alone) await Promise.race([play(step), cancelled.promise]);
}

async function playAll(id: unknown, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if ('end' in step) return send({ id, result: { stopReason: 'end_turn', ...step.end } });
    if ('refuse' in step) return send({ id, error: step.refuse });
    const isCancelled = (await Promise.race([play(step), cancelled.promise])) === 'cancelled';
    if (!isCancelled) continue;
    for (const late of steps) if ('askLate' in late) void ask(late.askLate, late.params);
    return send({ id, result: { stopReason: 'cancelled' } });
  }
  send({ id, result: { stopReason: 'end_turn' } });
}

function choose(prompt: string): ScriptedTurn {
  const all = scenario.turns ?? [{ steps: [{ say: 'done' }] }];
  const matching = all.find(({ match }) => match !== undefined && prompt.includes(match));
  const inOrder = all.filter(({ match }) => match === undefined);
  return matching ?? inOrder[Math.min(turns - 1, inOrder.length - 1)] ?? { steps: [] };
}

async function play(step: Step): Promise<void> {
  if ('ask' in step) await ask(step.ask, step.params);
  else if ('waitMs' in step) await sleep(step.waitMs);
  else if ('forever' in step) await new Promise(() => {});
  else if ('run' in step) spawnSync('sh', ['-c', step.run], { stdio: 'ignore' });
  else if ('grandchild' in step) spawn('sleep', ['300'], { stdio: 'ignore', detached: true }).unref();
  else if ('exit' in step) process.exit(step.exit);
  else if ('kill' in step) process.kill(process.pid, step.kill);
  else if ('raw' in step) put(step.raw);
  else if ('stderr' in step) process.stderr.write(step.stderr);
  else speak(step);
}

function speak(step: Step): void {
  if ('update' in step) for (let time = 0; time < (step.times ?? 1); time += 1) tell(step.update, step.session);
  else if ('say' in step) {
    const text = step.say.replaceAll('$answer', answerText);
    tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  } else if ('call' in step) {
    requests += 1;
    const toolCallId = `call-${requests}`;
    tell({ sessionUpdate: 'tool_call', toolCallId, status: 'pending', ...step.call });
    tell({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', ...withTerminal(step.ends) });
  }
}

async function ask(method: string, params: Readonly<Json>): Promise<void> {
  requests += 1;
  const id = requests;
  const { promise, resolve } = Promise.withResolvers<Json>();
  answers.set(id, resolve);
  send({ id, method, params: { sessionId: session, ...withTerminal(params) } });
  const { result, error } = await promise;
  answerText = JSON.stringify(result ?? error);
  terminal = String((result as Json | undefined)?.terminalId ?? terminal);
}

function withTerminal(json: Readonly<Json>): Json {
  return JSON.parse(JSON.stringify(json).replaceAll('$terminal', terminal)) as Json;
}

function tell(update: Readonly<Json>, sessionId = session): void {
  send({ method: 'session/update', params: { sessionId, update } });
}

function send(message: object): void {
  put(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
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

function fileOf(id: string): string {
  return path.join(scenario.home ?? '', `${path.basename(id)}.session`);
}

function trace(message: object): void {
  appendFileSync(traceFile, `${JSON.stringify(message)}\n`);
}
