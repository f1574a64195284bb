import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { sleep } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import { type FakeLinear, startFakeLinear } from '../test/fake/linear/fake-linear.ts';
import type { BuiltBaton } from './built-baton.ts';
import { percentile } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';

const issueCount = 50;
const slots = 10;
const rounds = 3;
const arrivals = 25;
const patienceMs = 120_000;
const afterMs = 60_000;
const ticksASecond = 100;

/**
 * A drain as a stranger sees it: 50 issues of a fake Linear over HTTP, 10 slots, and a Codex that completes its turn at once
 * and moves its issue. Compared with the same program behind the same shell, as often and as many at a time, with nobody in
 * between. Then one issue at a time, from the moment Linear has it until its agent has its first turn.
 */
export async function benchOutsideDrain({ program }: BuiltBaton): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  const figures: Figure[] = [];
  for (const intervalMs of [1_000, 30_000, 100]) {
    const [drains, floors]: [Drained[], number[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      await using desk = await openDesk(scratch);
      floors.push(await spawnAll(scratch, desk, `floor-${intervalMs}-${round}`));
      const isLast = intervalMs === 1_000 && round === rounds - 1;
      drains.push(await drain(scratch, desk, program, { intervalMs, round, thenMs: isLast ? afterMs : 0 }));
    }
    figures.push(...figuresOf(intervalMs, drains, floors));
  }
  await using desk = await openDesk(scratch);
  const seen = await arrive(scratch, desk, program);
  figures.push({
    what: `from an issue on Linear to the first turn of its agent, poll every 100 ms, median of ${arrivals}`,
    seen: `${percentile(seen, 0.5).toFixed(0)} ms (p90 ${percentile(seen, 0.9).toFixed(0)})`,
    aim: '110 ms',
    ratio: null,
  });
  return figures;
}

function figuresOf(intervalMs: number, drains: readonly Drained[], floors: readonly number[]): Figure[] {
  const of = (pick: (each: Drained) => number): number => percentile(drains.map(pick), 0.5);
  const floor = percentile(floors, 0.5);
  const name = `drain of ${issueCount} issues of Linear from outside, ${slots} slots, poll every ${intervalMs} ms`;
  const aims = new Map([
    [1_000, '20'],
    [30_000, '12'],
  ]);
  const after = drains.at(-1)?.afterMb ?? null;
  return [
    {
      what: `${name}, median of ${rounds}`,
      seen: `${(of((each) => each.tookMs) / 1_000).toFixed(2)} s`,
      aim: '1.20 times',
      ratio: ratioOf(
        of((each) => each.tookMs),
        floor,
        `the bare spawns (${(floor / 1_000).toFixed(2)} s)`,
      ),
    },
    {
      what: 'requests of that drain',
      seen: `${of((each) => each.requests)}`,
      aim: aims.get(intervalMs) ?? null,
      ratio: null,
    },
    {
      what: 'processor time of the daemon for each issue',
      seen: `${(of((each) => each.cpuMs) / issueCount).toFixed(1)} ms`,
      aim: '12 ms',
      ratio: null,
    },
    ...(after === null
      ? []
      : [
          {
            what: 'memory of that daemon a minute later (RSS)',
            seen: `${after.toFixed(0)} MB`,
            aim: '110 MB',
            ratio: null,
          },
        ]),
  ];
}

/** Where the agents say that they have a turn, next to the Linear in which they move their issue. */
interface Desk extends AsyncDisposable {
  readonly linear: FakeLinear;
  readonly command: string;
  /** When the agent of an issue had its turn. */
  readonly turns: Map<string, number>;
}

async function openDesk(scratch: Scratch): Promise<Desk> {
  await using opened = new AsyncDisposableStack();
  const linear = opened.use(await startFakeLinear());
  const turns = new Map<string, number>();
  const server = opened.use(
    createServer((request, response) => {
      const id = request.url?.slice(1) ?? '';
      turns.set(id, performance.now());
      if (!id.startsWith('floor')) linear.updateIssue(id, { state: 'Done' });
      response.end();
    }).listen(0, '127.0.0.1'),
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = scratch.write('codex.mjs', agentText);
  const kept = opened.move();
  return {
    linear,
    command: `'${process.execPath}' '${agent}' ${port}`,
    turns,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The least that speaks as Codex does. */
const agentText = `import { get } from 'node:http';
import { createInterface } from 'node:readline';
const put = (frame) => process.stdout.write(JSON.stringify(frame) + '\\n');
const turn = { id: 'turn', status: 'inProgress', items: [], error: null };
const answers = { initialize: { userAgent: 'bench' }, 'thread/start': { thread: { id: 'thread' } }, 'turn/start': { turn } };
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  put({ id, result: answers[method] ?? {} });
  if (method !== 'turn/start') return;
  put({ method: 'turn/started', params: { threadId: 'thread', turn } });
  get('http://127.0.0.1:' + process.argv[2] + '/' + process.env.BATON_ISSUE_ID, { agent: false }, (answer) =>
    answer.resume().on('end', () =>
      put({ method: 'turn/completed', params: { threadId: 'thread', turn: { ...turn, status: 'completed' } } })));
}).on('close', () => process.exit(0));
`;

async function spawnAll(scratch: Scratch, { command }: Desk, name: string): Promise<number> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < issueCount) {
      const id = `${name}-${next}`;
      next += 1;
      const cwd = path.join(scratch.folder, name, id);
      mkdirSync(cwd, { recursive: true });
      const env = { ...quickHome(scratch), BATON_ISSUE_ID: id };
      const child = spawn('bash', ['-lc', command], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
      const ended = once(child, 'exit');
      const ask = (id: number, method: string): void =>
        void child.stdin.write(`${JSON.stringify({ id, method, params: {} })}\n`);
      ask(0, 'initialize');
      for await (const line of createInterface({ input: child.stdout })) {
        const { id: answered, method } = JSON.parse(line) as { id?: number; method?: string };
        if (answered === 0) ask(1, 'thread/start');
        if (answered === 1) ask(2, 'turn/start');
        if (method === 'turn/completed') child.stdin.end();
      }
      await ended;
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: slots }, worker));
  return performance.now() - began;
}

/** A login shell reads the profile of its home; that of the person who measures may take longer than all the rest. */
function quickHome({ folder }: Scratch): NodeJS.ProcessEnv {
  return { ...process.env, HOME: folder };
}

interface Drained {
  readonly tookMs: number;
  readonly requests: number;
  readonly cpuMs: number;
  readonly afterMb: number | null;
}

/** From the first request of a new daemon, which finds 50 issues, until it has recorded the end of the last run. */
async function drain(
  scratch: Scratch,
  desk: Desk,
  program: string,
  { intervalMs, round, thenMs }: { readonly intervalMs: number; readonly round: number; readonly thenMs: number },
): Promise<Drained> {
  const { linear } = desk;
  for (let index = 0; index < issueCount; index += 1) linear.addIssue({ title: `Issue ${index}` });
  await using daemon = await startDaemon(scratch, desk, program, { name: `drain-${intervalMs}-${round}`, intervalMs });
  await until(
    () => linear.requests.length > 0,
    () => `no request came\n${daemon.tail()}`,
  );
  const began = performance.now();
  const cpu = daemon.cpuMs();
  await until(
    () => daemon.ends() >= issueCount,
    () => `${daemon.ends()} of ${issueCount} runs ended\n${daemon.tail()}`,
  );
  const tookMs = performance.now() - began;
  await until(
    () => daemon.removed() >= issueCount,
    () => `${daemon.removed()} of ${issueCount} workspaces were removed`,
  );
  const result = { tookMs, requests: linear.requests.length, cpuMs: daemon.cpuMs() - cpu };
  if (thenMs > 0) await sleep(systemClock, thenMs);
  return { ...result, afterMb: thenMs > 0 ? daemon.rssMb() : null };
}

async function arrive(scratch: Scratch, desk: Desk, program: string): Promise<readonly number[]> {
  await using daemon = await startDaemon(scratch, desk, program, { name: 'arrive', intervalMs: 100 });
  await until(
    () => desk.linear.requests.length > 0,
    () => `no request came\n${daemon.tail()}`,
  );
  await sleep(systemClock, 3_000);
  const took: number[] = [];
  for (let index = 0; index < arrivals; index += 1) {
    // Not in step with the polls.
    await sleep(systemClock, 400 + ((index * 37) % 100));
    const began = performance.now();
    const { id } = desk.linear.addIssue({ title: `Issue ${index}` });
    await until(
      () => desk.turns.has(id),
      () => `the agent of issue ${index} had no turn\n${daemon.tail()}`,
    );
    took.push((desk.turns.get(id) ?? 0) - began);
  }
  return took;
}

interface Daemon extends AsyncDisposable {
  ends(): number;
  removed(): number;
  cpuMs(): number;
  rssMb(): number;
  tail(): string;
}

async function startDaemon(
  scratch: Scratch,
  { linear, command }: Desk,
  program: string,
  { name, intervalMs }: { readonly name: string; readonly intervalMs: number },
): Promise<Daemon> {
  const settings = {
    project: { name: 'bench' },
    tracker: { kind: 'linear', project_slug: 'baton', provider: { endpoint: linear.url, api_key: linear.apiKey } },
    polling: { interval_ms: intervalMs },
    workspace: { root: 'workspaces' },
    agent: { backend: 'codex', isolation: 'none', max_concurrent_agents: slots },
    codex: { command },
  };
  const workflow = scratch.write(`${name}/WORKFLOW.md`, `---\n${JSON.stringify(settings)}\n---\nWork.\n`);
  const args = ['start', workflow, '--json', '--state-dir', path.join(scratch.folder, name, 'state')];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
    env: quickHome(scratch),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const end = (): void => void child.kill('SIGTERM');
  process.once('exit', end);
  const counts: Record<string, number> = {};
  let tail: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    tail = [...tail.slice(-9), line];
    const event = /"event":"([a-z_]+)"/.exec(line)?.[1] ?? '';
    counts[event] = (counts[event] ?? 0) + 1;
  });
  const proc = (file: string): string => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');
  return {
    ends: () => (counts.run_succeeded ?? 0) + (counts.run_stopped ?? 0),
    removed: () => counts.workspace_removed ?? 0,
    cpuMs: () => {
      const fields = proc('stat')
        .slice(proc('stat').lastIndexOf(')') + 2)
        .split(' ');
      return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksASecond;
    },
    rssMb: () => Number(/VmRSS:\s+(\d+)/.exec(proc('status'))?.[1]) / 1_024,
    tail: () => tail.join('\n'),
    [Symbol.asyncDispose]: async () => {
      process.off('exit', end);
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      end();
      await ended;
    },
  };
}

async function until(isSo: () => boolean, found: () => string): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it took too long: ${found()}`);
    await sleep(systemClock, 2);
  }
}
