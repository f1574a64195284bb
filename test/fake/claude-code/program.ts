/**
 * A scripted Claude Code: `node program.ts SCENARIO.json TRACE.jsonl [arguments of Claude Code]`. It speaks the streaming
 * JSON protocol over its standard streams, writes every line it gets to the trace (and its own arguments, directory and
 * pid as the first one), and plays the steps of its scenario in each turn. `scenario.ts` says what there is.
 */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario, ScriptedTurn, Step } from './scenario.ts';

type Json = Record<string, unknown>;

const [scenarioFile = '', traceFile = '', ...args] = process.argv.slice(2);
const scenario: Scenario = JSON.parse(readFileSync(scenarioFile, 'utf8'));
trace({ started: { argv: args, cwd: process.cwd(), pid: process.pid } });

const after = (flag: string): string | undefined => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
const resumed = after('--resume');
const session = resumed ?? after('--session-id') ?? 'no-session';
let turns = 0;
let requests = 0;
let isBusy = false;
let answerText = '';
let interrupted = Promise.withResolvers<'interrupted'>();
let waiting: { readonly uuid: string; readonly text: string }[] = [];
let alone: readonly Step[] | null = null;
let heard = Promise.withResolvers<void>();
const answers = new Map<string, (answer: Json) => void>();

if (args[0] === 'auth') {
  process.stdout.write(`${JSON.stringify({ loggedIn: true, authMethod: 'api_key', apiProvider: 'firstParty' })}\n`);
  process.exit(0);
}
if (resumed !== undefined && scenario.home !== undefined && !existsSync(fileOf(resumed))) {
  process.stderr.write(`No conversation found with session ID: ${resumed}\n`);
  process.exit(1);
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line) as Json;
    trace(message);
    if (message.type === 'user') hear(message);
    else if (message.type === 'control_request') control(String(message.request_id), message.request as Json);
    else answers.get(String((message.response as Json).request_id))?.(message.response as Json);
  })
  .on('close', () => process.exit(0));

function hear(message: Json): void {
  const [block] = (message.message as { content: { text: string }[] }).content;
  waiting.push({ uuid: String(message.uuid), text: block?.text ?? '' });
  if (!scenario.isOlder) send({ type: 'command_lifecycle', command_uuid: message.uuid, state: 'queued' });
  heard.resolve();
  heard = Promise.withResolvers();
  if (!isBusy) void work();
}

function control(id: string, request: Json): void {
  const answer = (response: Json): void =>
    send({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
  const { initialize = { claude_code_version: '0.0.0', account: {} } } = scenario;
  const isFirst = request.subtype === 'initialize';
  if (isFirst && initialize === 'silence') return;
  if (request.subtype === 'cancel_async_message') waiting = waiting.filter(({ uuid }) => uuid !== request.message_uuid);
  answer(isFirst && initialize !== 'silence' ? initialize : {});
  if (request.subtype === 'interrupt' && !scenario.isStubborn) interrupted.resolve('interrupted');
}

/** Turns, until nothing more was said. */
async function work(): Promise<void> {
  isBusy = true;
  while (waiting.length > 0 || alone !== null) {
    turns += 1;
    const steps = alone ?? choose(read()).steps;
    alone = null;
    interrupted = Promise.withResolvers();
    if (scenario.home !== undefined) {
      mkdirSync(scenario.home, { recursive: true });
      writeFileSync(fileOf(session), '');
    }
    send({ type: 'system', subtype: 'init', session_id: session });
    await playAll(steps);
  }
  isBusy = false;
}

async function playAll(steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if ('end' in step) return end(step.end);
    if ((await Promise.race([play(step), interrupted.promise])) === 'interrupted')
      return end({ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_tools' });
  }
  end({ result: lastSaid });
}

/** Reads everything that waits; its text is the prompt. */
function read(): string {
  const all = waiting.splice(0);
  for (const { uuid } of all)
    if (!scenario.isOlder) send({ type: 'command_lifecycle', command_uuid: uuid, state: 'started' });
  return all.map(({ text }) => text).join('\n');
}

function choose(prompt: string): ScriptedTurn {
  const all = scenario.turns ?? [{ steps: [{ say: 'done' }] }];
  const matching = all.find(({ match }) => match !== undefined && prompt.includes(match));
  const inOrder = all.filter(({ match }) => match === undefined);
  return matching ?? inOrder[Math.min(turns - 1, inOrder.length - 1)] ?? { steps: [] };
}

let lastSaid = '';

async function play(step: Step): Promise<void> {
  if ('ask' in step) await ask(step.ask);
  else if ('waitMs' in step) await sleep(step.waitMs);
  else if ('untilSaid' in step) while (waiting.length < step.untilSaid) await heard.promise;
  else if ('forever' in step) await new Promise(() => {});
  else if ('run' in step) spawnSync('sh', ['-c', step.run], { stdio: 'ignore' });
  else if ('grandchild' in step) spawn('sleep', ['300'], { stdio: 'ignore', detached: true }).unref();
  else if ('exit' in step) process.exit(step.exit);
  else if ('kill' in step) process.kill(process.pid, step.kill);
  else speak(step);
}

function speak(step: Step): void {
  if ('send' in step) for (let time = 0; time < (step.times ?? 1); time += 1) send(step.send);
  else if ('say' in step) {
    lastSaid = step.say.replaceAll('$answer', answerText);
    assistant([{ type: 'text', text: lastSaid }], step.usage);
  } else if ('call' in step) {
    requests += 1;
    const id = `toolu_${requests}`;
    assistant([{ type: 'tool_use', id, name: step.call, input: step.input }]);
    const content = [{ type: 'tool_result', tool_use_id: id, content: step.result, is_error: step.isError === true }];
    send({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });
  } else if ('thenAlone' in step) alone = step.thenAlone;
  else if ('raw' in step) put(step.raw);
  else if ('stderr' in step) process.stderr.write(step.stderr);
}

function assistant(content: readonly Json[], usage: Json = { input_tokens: 10, output_tokens: 2 }): void {
  requests += 1;
  const message = { id: `msg_${requests}`, role: 'assistant', model: 'claude-opus-5-5', content, usage };
  send({ type: 'assistant', message, parent_tool_use_id: null });
}

async function ask(request: Json): Promise<void> {
  requests += 1;
  const id = `request-${requests}`;
  const { promise, resolve } = Promise.withResolvers<Json>();
  answers.set(id, resolve);
  send({ type: 'control_request', request_id: id, request });
  answerText = JSON.stringify(await promise);
}

function end(fields: Readonly<Json>): void {
  const usual = { subtype: 'success', is_error: false, terminal_reason: 'completed', permission_denials: [] };
  send({ type: 'result', ...usual, session_id: session, ...fields });
}

function send(message: object): void {
  put(`${JSON.stringify(message)}\n`);
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
  return path.join(scenario.home ?? '', `${id}.session`);
}

function trace(message: object): void {
  appendFileSync(traceFile, `${JSON.stringify(message)}\n`);
}
