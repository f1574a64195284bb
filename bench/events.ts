import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { sleep } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import type { Scenario } from '../test/fake/app-server/scenario.ts';
import { writeFakeAppServer } from '../test/fake/app-server/write-fake-app-server.ts';
import { type BuiltBaton, buildBaton } from './built-baton.ts';
import { LiveDaemon } from './live-daemon.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';
import type { LoopReport } from './watch-loop.ts';
import { issuesText, workflowText } from './workflow-text.ts';

const piecesOfItem = 20;
/** The messages for one item of Codex: its start, its output in pieces, its end, and the tokens so far. */
const eventsOfItem = piecesOfItem + 3;
const itemsOfBlock = 20;
const eventsOfBlock = eventsOfItem * itemsOfBlock;
const blocks = 1_000;
const events = blocks * eventsOfBlock;

/**
 * How many events of Codex a daemon handles: the published `baton start` in its own process, with its store and transcripts
 * on disk, and sessions of the backend `codex` whose app servers send as fast as they can once they get the signal.
 * Compared with: the same output of one such program, whose lines are only parsed.
 */
export async function benchEvents(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  using baton = await buildBaton();
  const before = await readBare(scratch, 'before');
  const one = await digest(baton, scratch, 1);
  const ten = await digest(baton, scratch, 10);
  const after = await readBare(scratch, 'after');
  const bareMs = (before + after) / 2;
  return [one, ten].flatMap((each) => figuresOf(each, bareMs));
}

interface Digested {
  readonly runs: number;
  readonly tookMs: number;
  readonly loop: LoopReport;
  /** Rows in the store. */
  readonly written: number;
}

function figuresOf({ runs, tookMs, loop, written }: Digested, bareMs: number): Figure[] {
  const whose = runs === 1 ? 'one run' : `${runs} runs at once`;
  const { delayP50Ms, delayP99Ms, delayMaxMs, cpuMs, overMs, rssBytes } = loop;
  const share = ((100 * cpuMs) / overMs).toFixed(0);
  return [
    {
      what: `events of Codex that a daemon handles in a second, ${whose}`,
      seen: `${perSecond(tookMs)} (${events} in ${(tookMs / 1_000).toFixed(1)} s, recorded in ${written} rows)`,
      aim: null,
      ratio: ratioOf(tookMs, bareMs, `the time to parse them (${perSecond(bareMs)} a second)`),
    },
    {
      what: `event loop delay during this, p99, ${whose}`,
      seen: `${delayP99Ms.toFixed(1)} ms (p50 ${delayP50Ms.toFixed(1)}, max ${delayMaxMs.toFixed(0)})`,
      aim: '20 ms',
      ratio: `${share} % of one core, ${(rssBytes / 2 ** 20).toFixed(0)} MB`,
    },
  ];
}

async function digest(baton: BuiltBaton, scratch: Scratch, runs: number): Promise<Digested> {
  const name = `${runs}-runs`;
  const folder = path.join(scratch.folder, name);
  const fake = writeFakeAppServer(path.join(folder, 'app-server'), flood(blocks / runs, path.join(folder, 'go')));
  const issuesFile = scratch.write(
    `${name}/issues.json`,
    issuesText(Array.from({ length: runs }, (_, index) => `BAT-${index}`)),
  );
  const workflow = workflowText({
    intervalMs: 30_000,
    slots: runs,
    backend: 'codex',
    command: fake.command,
    writes: path.join(folder, 'app-server'),
    issuesFile,
  });
  const watched = await watchFlood(
    new LiveDaemon(baton, scratch.write(`${name}/WORKFLOW.md`, workflow), folder),
    () => fake.sent('turn/start').length,
    () => scratch.write(`${name}/go`, ''),
    runs,
  );
  return { runs, ...watched, written: rowsIn(path.join(folder, 'state', 'baton.db')) };
}

async function watchFlood(
  live: LiveDaemon,
  turns: () => number,
  letGo: () => void,
  runs: number,
): Promise<Pick<Digested, 'tookMs' | 'loop'>> {
  await using daemon = live;
  await daemon.until(async () => turns() === runs, 'not all sessions started');
  // The start is not measured.
  await sleep(systemClock, 2_000);
  await daemon.report();
  const began = performance.now();
  letGo();
  // A second turn starts when the daemon has received the end of the first.
  await daemon.until(async () => turns() === 2 * runs, 'not all sessions were read to their end');
  const tookMs = performance.now() - began;
  return { tookMs, loop: await daemon.report() };
}

/** One program on its own, read only by a parser. */
async function readBare(scratch: Scratch, name: string): Promise<number> {
  const go = path.join(scratch.folder, name, 'go');
  const fake = writeFakeAppServer(path.join(scratch.folder, name), flood(blocks, go));
  const child = spawn('sh', ['-c', `exec ${fake.command}`], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  for (const [id, method] of ['initialize', 'thread/start', 'turn/start'].entries())
    child.stdin.write(`${JSON.stringify({ id, method, params: {} })}\n`);
  const lines = createInterface({ input: child.stdout });
  let heard = 0;
  let began = 0;
  let tookMs = 0;
  for await (const line of lines) {
    const { method } = JSON.parse(line) as { readonly method?: string };
    if (method === 'turn/started') {
      began = performance.now();
      scratch.write(`${name}/go`, '');
    } else if (method?.startsWith('item/') || method?.startsWith('thread/')) heard += 1;
    if (method !== 'turn/completed') continue;
    tookMs = performance.now() - began;
    child.stdin.end();
  }
  await ended;
  if (heard < events) throw new Error(`only ${heard} of ${events} events arrived`);
  return tookMs;
}

/** In its first turn it waits for the file, sends its blocks and completes; the second turn never ends. */
function flood(times: number, go: string): Scenario {
  const wait = `while [ ! -e '${go}' ]; do sleep 0.02; done`;
  return { turns: [{ steps: [{ run: wait }, { raw: block(), times }] }, { steps: [{ forever: true }] }] };
}

function block(): string {
  return Array.from({ length: itemsOfBlock }, (_, index) => item(`item-${index}`))
    .flat()
    .map((frame) => `${JSON.stringify(frame)}\n`)
    .join('');
}

function item(id: string): readonly object[] {
  const command = { type: 'commandExecution', id, command: 'npm test', cwd: '/somewhere', status: 'inProgress' };
  const delta = 'ok 12 - something that a test of a project says about itself, as long as such lines are\n';
  const total = { totalTokens: 1_200, inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 200 };
  const done = { ...command, status: 'completed', exitCode: 0, aggregatedOutput: delta.repeat(piecesOfItem) };
  return [
    { method: 'item/started', params: { item: command } },
    ...Array.from({ length: piecesOfItem }, () => ({
      method: 'item/commandExecution/outputDelta',
      params: { itemId: id, delta },
    })),
    { method: 'item/completed', params: { item: done } },
    { method: 'thread/tokenUsage/updated', params: { tokenUsage: { total, last: total } } },
  ];
}

function rowsIn(file: string): number {
  const database = new DatabaseSync(file);
  try {
    return Number(database.prepare('select count(*) as count from run_events').get()?.count);
  } finally {
    database.close();
  }
}

function perSecond(ms: number): string {
  return `${Math.round(events / ms)},000`;
}
