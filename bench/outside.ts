import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { sleep } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import { startFakeLinear } from '../test/fake/linear/fake-linear.ts';
import { buildBaton } from './built-baton.ts';
import { percentile } from './measure.ts';
import { benchOutsideDrain } from './outside-drain.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';

const starts = 7;
const calls = 15;
const patienceMs = 60_000;
/** After this time a daemon has done all that follows its start. */
const idleMs = 5_000;

/**
 * Baton as a stranger sees it: the built program in a process of its own, with a fake Linear over HTTP and no agent to run.
 * Compared with Node itself, in turns: one that opens SQLite and sends one request, and one that does nothing.
 */
export async function benchOutside(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  using built = await buildBaton();
  await using linear = await startFakeLinear();
  const workflow = workflowFile(scratch, linear);
  const requests: number[] = [];
  await using floorServer = createServer((_request, response) => {
    requests.push(performance.now());
    response.end();
  }).listen(0, '127.0.0.1');
  await once(floorServer, 'listening');
  const floorProgram = scratch.write(
    'floor.mjs',
    floorText(`http://127.0.0.1:${(floorServer.address() as AddressInfo).port}`),
  );

  const [first, floors, memory, floorMemory]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < starts; round += 1) {
    requests.length = 0;
    const floor = await lives(
      [floorProgram, path.join(scratch.folder, `floor-${round}.db`)],
      () => requests.length > 0,
    );
    floors.push(floor.tookMs);
    floorMemory.push(floor.rssMb);
    linear.requests.length = 0;
    const args = ['start', workflow, '--json', '--state-dir', path.join(scratch.folder, `state-${round}`)];
    // The memory takes long to measure, so not every time.
    const baton = await lives([built.program, ...args], () => linear.requests.length > 0, round % 3 === 0 ? idleMs : 0);
    first.push(baton.tookMs);
    if (round % 3 === 0) memory.push(baton.rssMb);
  }
  const place = ['--workflow', workflow, '--state-dir', path.join(scratch.folder, 'state-0')];
  const [version, status, nothing]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < calls; round += 1) {
    nothing.push(await tookMs(['-e', '0']));
    version.push(await tookMs([built.program, '--version']));
    status.push(await tookMs([built.program, 'status', ...place]));
  }
  const median = (values: readonly number[]): number => percentile(values, 0.5);
  const ofNothing = `a Node that does nothing (${median(nothing).toFixed(0)} ms)`;
  return [
    {
      what: `from the start of the process to the first request to Linear, empty store, median of ${starts}`,
      seen: `${median(first).toFixed(0)} ms`,
      aim: '350 ms, or 3 times',
      ratio: ratioOf(
        median(first),
        median(floors),
        `a Node that opens SQLite and sends one request (${median(floors).toFixed(0)} ms)`,
      ),
    },
    {
      what: 'memory of a daemon with Linear that is idle (RSS)',
      seen: `${median(memory).toFixed(0)} MB`,
      aim: '90 MB',
      ratio: ratioOf(median(memory), median(floorMemory), `that Node (${median(floorMemory).toFixed(0)} MB)`),
    },
    {
      what: `\`baton --version\`, median of ${calls}`,
      seen: `${median(version).toFixed(0)} ms`,
      aim: '60 ms',
      ratio: ratioOf(median(version), median(nothing), ofNothing),
    },
    {
      what: `\`baton status\` without a daemon, median of ${calls}`,
      seen: `${median(status).toFixed(0)} ms`,
      aim: '120 ms',
      ratio: ratioOf(median(status), median(nothing), ofNothing),
    },
    ...(await benchOutsideDrain(built)),
  ];
}

function workflowFile(scratch: Scratch, { url, apiKey }: { readonly url: string; readonly apiKey: string }): string {
  const settings = {
    project: { name: 'bench' },
    tracker: { kind: 'linear', project_slug: 'baton', provider: { endpoint: url, api_key: apiKey } },
    workspace: { root: 'workspaces' },
    agent: { backend: 'command', command: 'true' },
  };
  return scratch.write('WORKFLOW.md', `---\n${JSON.stringify(settings)}\n---\nWork.\n`);
}

/** The least that a daemon with a store and a tracker does. */
function floorText(url: string): string {
  return `import { get } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
new DatabaseSync(process.argv[2]).exec('pragma journal_mode = wal; create table rows (id integer primary key)');
get('${url}', (response) => response.resume());
setInterval(() => {}, 60_000);
`;
}

/** A program of Node from its start until something is so, and its memory some time later; then it is ended. */
async function lives(
  args: readonly string[],
  isSo: () => boolean,
  thenMs = 0,
): Promise<{ readonly tookMs: number; readonly rssMb: number }> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { stdio: 'ignore' });
  const end = (): void => void child.kill('SIGTERM');
  process.once('exit', end);
  try {
    while (!isSo()) {
      if (child.exitCode !== null || performance.now() - began > patienceMs)
        throw new Error(`${args[0]} sent no request`);
      await sleep(systemClock, 1);
    }
    const took = performance.now() - began;
    await sleep(systemClock, thenMs);
    return { tookMs: took, rssMb: rssMbOf(child) };
  } finally {
    process.off('exit', end);
    const ended = once(child, 'exit');
    if (child.exitCode === null) {
      end();
      await ended;
    }
  }
}

function rssMbOf({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

async function tookMs(args: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return performance.now() - began;
}
