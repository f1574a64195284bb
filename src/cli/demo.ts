import path from 'node:path';
import type { Timer } from '../clock/clock.ts';
import { systemClock } from '../clock/system-clock.ts';
import type { Orchestrator } from '../orchestrator/orchestrator.ts';
import type { ReadModel } from '../orchestrator/read-model.ts';
import { createLogger } from '../telemetry/create-logger.ts';
import { memoryProfile } from '../tracker/memory/profile.ts';
import type { DemoFlags } from './command-line.ts';
import { createDaemon, type Daemon } from './daemon.ts';
import { liveTable } from './demo/live-table.ts';
import { type DemoFolder, makeDemo } from './demo/make-demo.ts';
import { plainLines } from './demo/plain-lines.ts';
import { type TicketRow, ticketRows } from './demo/ticket-rows.ts';
import { exitCodes } from './exit-codes.ts';
import { runDaemon } from './run-daemon.ts';
import { listenForStop } from './stop-on-signal.ts';
import type { Surroundings } from './surroundings.ts';

/** The table is drawn at most this often; a person does not see more. */
const drawEveryMs = 100;

/** `baton demo`: the real daemon on a scratch repository, with the stand-in agent. */
export async function demo(flags: DemoFlags, surroundings: Surroundings): Promise<number> {
  using signals = listenForStop(systemClock, surroundings);
  const folder = await makeDemo(flags.dir, surroundings);
  const json = flags.json === true;
  const { logger, close } = createLogger({ clock: systemClock, file: { logsRoot: folder.root }, terminal: null });
  try {
    await using daemon = await createDaemon(folder.workflow, logger, surroundings);
    const { orchestrator } = daemon;
    const rows = (): TicketRow[] =>
      ticketRows(daemon.tracker().all(), orchestrator.read(), memoryProfile.defaultTerminalStates ?? []);
    if (!json) surroundings.stdout.write(introduction(folder));
    const screen = watch(orchestrator, () => rows(), json, surroundings);
    // Whoever reads has gone (`baton demo | head`): there is nobody left to show anything to.
    surroundings.stdout.once('error', () => void orchestrator.stop());
    if (flags.once) stopWhenIdle(orchestrator);
    await runDaemon(daemon, signals);
    screen.close();
    const last = rows();
    const allDone = last.every(({ status }) => status === 'done');
    surroundings.stdout.write(summary({ rows: last, daemon, folder, json }));
    return flags.once && !allDone ? exitCodes.error : exitCodes.ok;
  } finally {
    await close();
  }
}

/** Shows the tickets whenever something changed, at most every `drawEveryMs`, and once more when closed. */
function watch(
  orchestrator: Orchestrator,
  rows: () => TicketRow[],
  json: boolean,
  { stdout, env }: Surroundings,
): { close(): void } {
  const isTable = stdout.isTTY === true && !json;
  const table = liveTable(stdout, !env.NO_COLOR);
  const lines = plainLines(stdout, systemClock, json);
  let timer: Timer | null = null;
  const show = (): void => {
    timer = null;
    if (isTable) table.draw(rows(), footer(orchestrator.read()));
    else lines(rows());
  };
  const unwatch = orchestrator.onChange(() => {
    if (isTable) timer ??= systemClock.schedule(drawEveryMs, show);
    else show();
  });
  return {
    close: () => {
      unwatch();
      timer?.cancel();
      show();
    },
  };
}

/**
 * Stops the orchestrator when nothing is left to do: nothing runs, nothing is due, and two whole ticks since then have
 * found nothing to start. Two, because the one in progress may have read the tracker before the last run ended.
 */
function stopWhenIdle(orchestrator: Orchestrator): void {
  let busyAtTick = 0;
  orchestrator.onChange(() => {
    const { running, retrying, polling } = orchestrator.read();
    if (running.length > 0 || retrying.length > 0) busyAtTick = polling.ticks;
    else if (polling.ticks >= busyAtTick + 2) void orchestrator.stop();
  });
}

function introduction({ root }: DemoFolder): string {
  return [
    'Baton demo: eight tickets, three agents at a time. The agent is "rehearsal", a scripted stand-in:',
    'it edits files, runs tests and commits for real, but no model is asked and nothing leaves this machine.',
    `Everything is in ${root}`,
    '',
  ].join('\n');
}

function footer({ slots, totals }: ReadModel): string {
  return `agents ${slots.used}/${slots.limit}   runs ${totals.runs}   tokens ${totals.totalTokens.toLocaleString('en')} (scripted)   Ctrl-C stops`;
}

function summary({
  rows,
  daemon,
  folder,
  json,
}: {
  rows: readonly TicketRow[];
  daemon: Daemon;
  folder: DemoFolder;
  json: boolean;
}): string {
  const { totals } = daemon.orchestrator.read();
  const done = rows.filter(({ status }) => status === 'done').length;
  const { failed = 0, timed_out: timedOut = 0, stalled = 0 } = totals.runsByEnd;
  const bad = failed + timedOut + stalled;
  if (json)
    return `${JSON.stringify({ summary: { tickets: rows.length, done, runs: totals.runs, failed: bad, folder: folder.root } })}\n`;
  return [
    '',
    `${done} of ${rows.length} tickets done in ${totals.runs} runs; ${bad === 1 ? '1 run' : `${bad} runs`} failed.`,
    ...rows
      .filter(({ status }) => status !== 'done')
      .map(({ identifier, detail }) => `  ${identifier} is left: ${detail}`),
    'See what the agents made, and the log of the run:',
    `  git -C '${folder.project}' log --oneline --all --graph`,
    `  less '${path.join(folder.root, 'log', 'baton.log')}'`,
    '',
  ].join('\n');
}
