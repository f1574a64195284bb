import path from 'node:path';
import { systemClock } from '../../clock/system-clock.ts';
import { jobCatalogue } from '../../core/cadence/job-catalogue.ts';
import type { PollingSettings } from '../../core/settings.ts';
import { countText, durationText } from '../../core/text/amount-text.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { stateFolder } from '../../daemon/state-folder.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { daemonStatus, openWorkplace, type WorkplaceFlags } from '../../daemon/workplace.ts';
import type { JobTimer } from '../../store/tables/job-timers.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { type DaemonJob, type JobRow, jobRows } from './job-rows.ts';
import { readOwner } from './read-owner.ts';

export interface JobsFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

/** `baton jobs`: every job, how often it comes, how it went and when it is due; from the daemon, else from the store. */
export async function showJobs(flags: JobsFlags, surroundings: Surroundings): Promise<number> {
  const status = await daemonStatus(flags, surroundings);
  const daemonJobs = jobsOf(status);
  const kept = await readKept(flags, surroundings).catch((thrown: unknown) => {
    // A daemon goes on with a workflow file that became bad.
    if (daemonJobs === null) throw thrown;
    return { timers: [], polling: null };
  });
  const workflowPath = path.resolve(surroundings.cwd, flags.workflow ?? 'WORKFLOW.md');
  const owner = readOwner(stateFolder(workflowPath, flags.stateDir, surroundings));
  const rows = jobRows({ ...kept, owner, daemonJobs });
  const mode = modeOf(status) ?? kept.polling?.mode ?? null;
  const now = systemClock.now();
  const daemon = status !== null;
  if (flags.json) {
    const told = { at: new Date(now).toISOString(), daemon, polling_mode: mode, jobs: rows.map(presentRow) };
    surroundings.stdout.write(jsonLine(told));
    return exitCodes.ok;
  }
  const lines = [...tableLines(rows, mode, now), ...(daemon ? [] : ['', noDaemon])];
  surroundings.stdout.write(`${lines.join('\n')}\n`);
  return exitCodes.ok;
}

const noDaemon = 'No daemon answers; this is what was written down last, of frequent jobs once a minute.';

async function readKept(
  flags: JobsFlags,
  surroundings: Surroundings,
): Promise<{ readonly timers: readonly JobTimer[]; readonly polling: PollingSettings | null }> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { store, project, settings } = workplace;
  return { timers: await store.jobTimers.list(project.id), polling: settings.polling };
}

/** Our own daemon made them; one of another version may have none. */
function jobsOf(status: unknown): readonly DaemonJob[] | null {
  if (typeof status !== 'object' || status === null || !('jobs' in status)) return null;
  return Array.isArray(status.jobs) ? (status.jobs as readonly DaemonJob[]) : null;
}

function modeOf(status: unknown): string | null {
  if (typeof status !== 'object' || status === null || !('polling' in status)) return null;
  const { polling } = status;
  if (typeof polling !== 'object' || polling === null || !('mode' in polling)) return null;
  return typeof polling.mode === 'string' ? polling.mode : null;
}

function presentRow(row: JobRow): Record<string, unknown> {
  return {
    name: row.name,
    kind: row.kind,
    description: jobCatalogue[row.name].description,
    interval_ms: row.intervalMs,
    owner: row.owner,
    is_own: row.isOwn,
    is_running: row.isRunning,
    last_run_at: iso(row.lastRunAt),
    outcome: row.outcome,
    duration_ms: row.durationMs,
    failures: row.failures,
    error: row.error,
    next_due_at: iso(row.nextDueAt),
  };
}

function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}

function tableLines(rows: readonly JobRow[], mode: string | null, now: number): string[] {
  const isShared = rows.some(({ isOwn }) => !isOwn);
  const titles = [
    'JOB',
    'KIND',
    'EVERY',
    'LAST RUN',
    'OUTCOME',
    'TOOK',
    'FAILURES>',
    'NEXT',
    ...(isShared ? ['DAEMON'] : []),
  ];
  const [head = '', ...lines] = columns(
    titles,
    rows.map((row) => [
      row.name,
      row.kind,
      everyText(row, mode),
      row.lastRunAt === null ? 'never' : agoText(now - row.lastRunAt),
      row.isRunning ? 'running' : (row.outcome ?? '-'),
      row.durationMs === null ? '-' : durationText(row.durationMs),
      countText(row.failures),
      row.nextDueAt === null ? '-' : dueText(row.nextDueAt - now),
      ...(isShared ? [ownerText(row)] : []),
    ]),
  );
  return [head, ...lines.flatMap((line, at) => [line, ...errorLines(rows[at])])];
}

/** Below the job that failed. */
function errorLines(row: JobRow | undefined): string[] {
  return row?.outcome === 'failed' && row.error !== null ? [`  ${harmlessLine(row.error)}`] : [];
}

function everyText({ name, intervalMs }: JobRow, mode: string | null): string {
  if (name !== 'tracker_poll') return intervalMs === null ? '-' : durationText(intervalMs);
  if (intervalMs === null) return 'by mode';
  return mode === null ? durationText(intervalMs) : `${durationText(intervalMs)} (${harmlessLine(mode)})`;
}

function agoText(ms: number): string {
  return ms < 1_000 ? 'just now' : `${durationText(wholeSeconds(ms))} ago`;
}

/** One that is late waits for its daemon: there is none, or it is busy with it. */
function dueText(ms: number): string {
  if (Math.abs(ms) < 1_000) return 'now';
  return ms > 0 ? `in ${durationText(wholeSeconds(ms))}` : `due for ${durationText(wholeSeconds(-ms))}`;
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

function ownerText({ owner, isOwn }: JobRow): string {
  if (owner === '') return 'any';
  if (owner === null) return '-';
  const short = harmlessLine(owner).slice(0, 8);
  return isOwn ? `${short} (this)` : short;
}
