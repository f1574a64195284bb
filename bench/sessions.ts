import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { sleep } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import { writeFakeAppServer } from '../test/fake/app-server/write-fake-app-server.ts';
import { writeFakeClaude } from '../test/fake/claude-code/write-fake-claude.ts';
import { type BuiltBaton, buildBaton } from './built-baton.ts';
import { LiveDaemon } from './live-daemon.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';
import type { LoopReport } from './watch-loop.ts';
import { type BenchWorkflow, issuesText, workflowText } from './workflow-text.ts';

const sessions = 200;
const eventsASecond = 20;
const measuredMs = 20_000;
const idleMs = 5_000;

/** Scripted twins are programs of Node: more of them would measure the machine. */
const twins = { few: 10, many: 40 };
const twinBackends = ['codex', 'claude'] as const;

/**
 * The resources of `baton start`: idle, and with 200 sessions of 20 events a second each. Every session is a real program in
 * containment that prints lines and waits in between. Then the memory for each session of the scripted twins of Codex and
 * Claude Code, which say something four times a second: the difference of a daemon with 40 and one with 10 of them.
 */
export async function benchSessions(): Promise<readonly Figure[]> {
  using scratch = new Scratch();
  using baton = await buildBaton();
  const idle = await watchIdle(baton, scratch);
  const talking = scratch.write('talk.pl', talkingProgram);
  const busy = await watchBusy(baton, scratch, { command: `exec perl '${talking}'`, count: sessions });
  const twinFigures: Figure[] = [];
  for (const backend of twinBackends) twinFigures.push(await twinFigure(baton, scratch, backend));
  const bareRss = bareNodeRss();
  const growth = (busy.rssBytes - idle.rssBytes) / sessions;
  return [
    {
      what: 'memory of an idle daemon (RSS)',
      seen: megabytes(idle.rssBytes),
      aim: '100 MB',
      ratio: ratioOf(idle.rssBytes, bareRss, `a Node that does nothing (${megabytes(bareRss)})`),
    },
    {
      what: `memory for each of ${sessions} live sessions of ${eventsASecond} events a second`,
      seen: megabytes(growth),
      aim: '1 MB',
      ratio: ratioOf(busy.rssBytes, idle.rssBytes, `the idle daemon in all (${megabytes(busy.rssBytes)})`),
    },
    {
      what: 'event loop delay during this, p99',
      seen: `${busy.delayP99Ms.toFixed(1)} ms (p50 ${busy.delayP50Ms.toFixed(1)}, max ${busy.delayMaxMs.toFixed(0)})`,
      aim: '20 ms',
      ratio: ratioOf(busy.delayP99Ms, idle.delayP99Ms, `the idle daemon (${idle.delayP99Ms.toFixed(1)} ms)`),
    },
    {
      what: 'share of one core that the daemon used during this',
      seen: percent(busy.cpuMs / busy.overMs),
      aim: null,
      ratio: `${percent(idle.cpuMs / idle.overMs)} when idle`,
    },
    ...twinFigures,
  ];
}

async function twinFigure(
  baton: BuiltBaton,
  scratch: Scratch,
  backend: (typeof twinBackends)[number],
): Promise<Figure> {
  const rss = async (count: number): Promise<number> => {
    const folder = path.join(scratch.folder, `${backend}-${count}`, 'twin');
    // Both scripts know these steps.
    const steps = Array.from({ length: 480 }, () => [{ say: 'I read the code.' }, { waitMs: 250 }]).flat();
    const scenario = { turns: [{ steps: [...steps, { forever: true as const }] }] };
    const { command } = backend === 'codex' ? writeFakeAppServer(folder, scenario) : writeFakeClaude(folder, scenario);
    return (await watchBusy(baton, scratch, { backend, command, count, writes: folder })).rssBytes;
  };
  const [few, many] = [await rss(twins.few), await rss(twins.many)];
  return {
    what: `memory for each live session of ${backend} (scripted twin), ${twins.many} against ${twins.few}`,
    seen: megabytes((many - few) / (twins.many - twins.few)),
    aim: '1 MB',
    ratio: `${megabytes(many)} in all`,
  };
}

async function watchIdle(baton: BuiltBaton, scratch: Scratch): Promise<LoopReport> {
  const workflow = workflowText({ intervalMs: 30_000, slots: sessions, command: 'true' });
  await using daemon = new LiveDaemon(
    baton,
    scratch.write('idle/WORKFLOW.md', workflow),
    path.join(scratch.folder, 'idle'),
  );
  await daemon.logged('orchestrator_started');
  await sleep(systemClock, 1_000);
  await daemon.report();
  await sleep(systemClock, idleMs);
  return daemon.report();
}

interface BusyWish extends Pick<BenchWorkflow, 'backend' | 'command' | 'writes'> {
  readonly count: number;
}

async function watchBusy(baton: BuiltBaton, scratch: Scratch, wish: BusyWish): Promise<LoopReport> {
  const { count, ...agent } = wish;
  const name = `${agent.backend ?? 'command'}-${count}`;
  const identifiers = Array.from({ length: count }, (_, index) => `BAT-${index}`);
  const issuesFile = scratch.write(`${name}/issues.json`, issuesText(identifiers));
  const workflow = workflowText({ intervalMs: 30_000, slots: count, ...agent, issuesFile });
  await using daemon = new LiveDaemon(
    baton,
    scratch.write(`${name}/WORKFLOW.md`, workflow),
    path.join(scratch.folder, name),
  );
  await daemon.until(async () => (await daemon.running()) === count, 'not all sessions started');
  // The start is not measured, only running sessions.
  await sleep(systemClock, 3_000);
  await daemon.report();
  await sleep(systemClock, measuredMs);
  const report = await daemon.report();
  const running = await daemon.running();
  if (running !== count) throw new Error(`only ${running} of ${count} sessions kept running`);
  return report;
}

/** Ends by itself at some point, in case nothing else ends it. */
const talkingProgram = `$| = 1;
for my $count (1 .. ${eventsASecond * 120}) {
  print "event $count: something that an agent tells about what it does, as long as such lines are\\n" or exit 0;
  select(undef, undef, undef, ${1 / eventsASecond});
}
`;

function bareNodeRss(): number {
  const script = 'setTimeout(() => process.stdout.write(String(process.memoryUsage.rss())), 500)';
  return Number(spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' }).stdout);
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(bytes < 10 * 2 ** 20 ? 2 : 0)} MB`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}
