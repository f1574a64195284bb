import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { sleep } from '../src/clock/clock.ts';
import { systemChance } from '../src/clock/system-chance.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import { childEnvironment, usualVariables } from '../src/process/child-environment.ts';
import { launch } from '../src/process/launch.ts';
import type { ProcessDeps } from '../src/process/start-child.ts';
import type { Runner } from '../src/runner/runner.ts';
import { MemoryTracker } from '../src/tracker/memory/memory-tracker.ts';
import { issue } from '../test/fake/issues.ts';
import { openBenchDaemon, processDeps } from './bench-daemon.ts';
import { type BuiltBaton, buildBaton } from './built-baton.ts';
import { benchLinearPolls } from './linear-polls.ts';
import { LiveDaemon } from './live-daemon.ts';
import { percentile } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';
import { workflowText } from './workflow-text.ts';

const exits = 100;
const additions = 50;
const bareRuns = 30;
/** In Perl. */
const shortWork = 'select(undef, undef, undef, 0.05);';
const lookEveryMs = 5;
const patienceMs = 120_000;

/**
 * How soon Baton reacts to events on its own machine: the exit of an agent, and an issue that is filed with `baton issue add`
 * in another process; and the requests of a poll of Linear. The agents are small Perl programs that record when they start
 * and when they are about to end, so that the whole time in between counts: the end of the process and the check of what it
 * left. Compared with: the same program, started and awaited with the same containment, without Baton.
 */
export async function benchReaction(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  const deps = await processDeps();
  const before = await watchBare(scratch, 'before', deps);
  const exit = await watchExits(scratch, deps);
  const between = await watchBare(scratch, 'between', deps);
  using built = await buildBaton();
  const filed = await watchAdditions(scratch, built);
  const after = await watchBare(scratch, 'after', deps);
  const bareEnds = [...before.ends, ...between.ends];
  const bareStarts = [...between.starts, ...after.starts];
  return [
    spread("from an agent's last act until the end of its run is recorded", exit.written, '20 ms', bareEnds),
    spread('the same, until the next run in its slot starts', exit.next, '20 ms', bareEnds),
    spread('of that, from the time Baton knows that the run is over', exit.decided, null, exit.next, 'the whole'),
    spread(
      'from the time an issue of `baton issue add` is on the board to the first act of its agent',
      filed.kept,
      '100 ms',
      bareStarts,
    ),
    spread('the same, from the end of that process', filed.ended, null, bareStarts),
    spread('the same, from the start of that process', filed.begun, null, filed.process, 'the process alone'),
    ...(await benchLinearPolls()),
  ];
}

function spread(
  what: string,
  times: readonly number[],
  aim: string | null,
  base: readonly number[],
  of = 'the bare program',
): Figure {
  const [median, p99, bare] = [percentile(times, 0.5), percentile(times, 0.99), percentile(base, 0.5)];
  return {
    what: `${what}, median of ${times.length}`,
    seen: `${median.toFixed(1)} ms (p99 ${p99.toFixed(1)})`,
    aim,
    ratio: ratioOf(median, bare, `${of} (${bare.toFixed(1)} ms, p99 ${percentile(base, 0.99).toFixed(1)})`),
  };
}

/** From the spawn to the first act, and from the last act until the end of the process is noticed. */
async function watchBare(
  scratch: Scratch,
  name: string,
  deps: ProcessDeps,
): Promise<{ readonly starts: readonly number[]; readonly ends: readonly number[] }> {
  const folder = path.join(scratch.folder, name);
  const first = scratch.write(`${name}/first.pl`, timeRecorder('first-act', ''));
  const last = scratch.write(`${name}/last.pl`, timeRecorder('last-act', shortWork));
  const [starts, ends]: [number[], number[]] = [[], []];
  for (let index = 0; index < bareRuns; index += 1) {
    for (const program of [first, last]) {
      const env = childEnvironment({
        from: process.env,
        allow: usualVariables,
        deny: [],
        add: { BATON_ISSUE_ID: `${index}` },
      });
      const request = { command: 'sh', args: ['-c', `exec perl '${program}' '${folder}'`], cwd: folder, env };
      const beganAt = now();
      const live = await launch({ ...request, runId: systemChance.id(), stdin: { text: '' } }, deps);
      await live.exited;
      const heardAt = now();
      await live.stop({ closeStdinMs: 0 });
      if (program === first) starts.push(timeIn(path.join(folder, `first-act-${index}`)) - beganAt);
      else ends.push(heardAt - timeIn(path.join(folder, `last-act-${index}`)));
    }
  }
  return { starts, ends };
}

interface Exits {
  readonly written: readonly number[];
  readonly next: readonly number[];
  readonly decided: readonly number[];
}

/** One slot, so that each exit is followed by one start. Times are wall times, because the agent is another process. */
async function watchExits(scratch: Scratch, deps: ProcessDeps): Promise<Exits> {
  const folder = path.join(scratch.folder, 'exits');
  const agent = scratch.write('exits/agent.pl', timeRecorder('last-act', shortWork));
  const command = `exec perl '${agent}' '${folder}'`;
  const workflowPath = scratch.write('exits/WORKFLOW.md', workflowText({ intervalMs: 30_000, slots: 1, command }));
  const issues = Array.from({ length: exits + 1 }, (_, index) =>
    issue({ id: `${index}`, identifier: `BAT-${index}`, state: 'Todo', createdAt: index }),
  );
  const tracker = new MemoryTracker({ issues, states: ['Todo', 'Done'], clock: systemClock });
  const began: string[] = [];
  const startedAt = new Map<string, number>();
  const overAt = new Map<string, number>();
  const writtenAt = new Map<string, number>();
  const watchRunner = (runner: Runner): Runner => ({
    start: (request) => {
      const { id } = request.issue;
      startedAt.set(id, now());
      began.push(id);
      const live = runner.start(request);
      void live.outcome.then(() => {
        overAt.set(id, now());
        return tracker.changes.moveIssue(id, 'Done', { kind: 'orchestrator' });
      });
      return live;
    },
  });
  await using daemon = await openBenchDaemon({
    folder: path.join(folder, 'state'),
    workflowPath,
    process: deps,
    tracker,
    watchRunner,
  });
  const { orchestrator } = daemon;
  // A run leaves the running ones right after its end is written.
  const unwatch = orchestrator.onChange(() => {
    const running = new Set(orchestrator.read().running.map((entry) => entry.issue.id));
    for (const id of overAt.keys()) if (!running.has(id) && !writtenAt.has(id)) writtenAt.set(id, now());
  });
  await orchestrator.start();
  await until(
    () => began.length > exits && writtenAt.size >= exits,
    () => `${writtenAt.size} of ${exits} runs ended`,
  );
  unwatch();
  const seen = began.slice(0, exits).map((id, index) => {
    const lastAct = timeIn(path.join(folder, `last-act-${id}`));
    const next = startedAt.get(began[index + 1] ?? '') ?? Number.NaN;
    const [written, over] = [writtenAt.get(id) ?? Number.NaN, overAt.get(id) ?? Number.NaN];
    return { written: written - lastAct, next: next - lastAct, decided: next - over };
  });
  return {
    written: seen.map(({ written }) => written),
    next: seen.map(({ next }) => next),
    decided: seen.map(({ decided }) => decided),
  };
}

interface Additions {
  /** Each time ends with the first act of the agent. */
  readonly kept: readonly number[];
  readonly ended: readonly number[];
  readonly begun: readonly number[];
  /** How long `baton issue add` itself took. */
  readonly process: readonly number[];
}

async function watchAdditions(scratch: Scratch, built: BuiltBaton): Promise<Additions> {
  const folder = path.join(scratch.folder, 'additions');
  const stateDir = path.join(folder, 'state');
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const agent = scratch.write('additions/agent.pl', timeRecorder('first-act', '', 'sleep 600;'));
  const settings = {
    project: { name: 'bench' },
    tracker: { kind: 'board' },
    polling: { interval_ms: 3_600_000 },
    workspace: { root: 'workspaces', strategy: 'none' },
    agent: { backend: 'command', command: `exec perl '${agent}' '${folder}'`, max_concurrent_agents: additions },
  };
  const workflow = scratch.write('additions/WORKFLOW.md', `---\n${JSON.stringify(settings)}\n---\nWork.\n`);
  await using daemon = new LiveDaemon(built, workflow, folder);
  await daemon.logged('orchestrator_started');
  const seen: { kept: number; ended: number; begun: number; process: number }[] = [];
  for (let index = 0; index < additions; index += 1) {
    const beganAt = now();
    const args = ['issue', 'add', `Issue ${index}`, '--json', '--workflow', workflow, '--state-dir', stateDir];
    const child = spawn(process.execPath, [built.program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    const endedAt = now();
    if (code !== 0) throw new Error(`baton issue add ended with ${code}: ${said}`);
    const { issue: added } = JSON.parse(said) as { issue: { id: string; created_at: string } };
    const file = path.join(folder, `first-act-${added.id}`);
    await daemon.until(async () => existsSync(file) && timeIn(file) > 0, 'an issue was not started');
    const startedAt = timeIn(file);
    const keptAt = Date.parse(added.created_at);
    seen.push({
      kept: startedAt - keptAt,
      ended: startedAt - endedAt,
      begun: startedAt - beganAt,
      process: endedAt - beganAt,
    });
  }
  return {
    kept: seen.map(({ kept }) => kept),
    ended: seen.map(({ ended }) => ended),
    begun: seen.map(({ begun }) => begun),
    process: seen.map((each) => each.process),
  };
}

/** A Perl program that does something, records the time for its issue, and does something more. */
function timeRecorder(what: string, before: string, after = ''): string {
  return [
    'use Time::HiRes qw(time); use POSIX;',
    `open(my $file, '>', "$ARGV[0]/${what}-$ENV{BATON_ISSUE_ID}") or die; ${before}`,
    "syswrite($file, sprintf('%.3f', time * 1000)) or die;",
    `${after} POSIX::_exit(0);\n`,
  ].join('\n');
}

/** The time that the agent recorded, in milliseconds; 0 until then. */
function timeIn(file: string): number {
  return Number(readFileSync(file, 'utf8'));
}

/** Wall time with the highest available resolution. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

async function until(isSo: () => boolean, found: () => string): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it took too long: ${found()}`);
    await sleep(systemClock, lookEveryMs);
  }
}
