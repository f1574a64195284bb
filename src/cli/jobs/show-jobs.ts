import type { OwnedJob } from '../../client/schema/system.ts';
import { countText, durationText } from '../../core/text/amount-text.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';

export interface JobsFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

interface JobRow extends OwnedJob {
  readonly is_own: boolean;
}

/** `baton jobs`: every job, its interval, its last result and when it is due; from the daemon, else from the store. */
export async function showJobs(flags: JobsFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const { polling_mode, jobs, other_daemons } = await connection.project.jobs();
  const daemon = connection.isDaemon();
  const rows = jobs.flatMap((job): JobRow[] => {
    const others = other_daemons.filter(({ name }) => name === job.name).map((each) => ({ ...each, is_own: false }));
    // A user who never ran a daemon here gets no empty row next to the rows of other daemons.
    const isUnknown = job.owner === null && job.is_running === null && others.length > 0;
    return isUnknown ? others : [{ ...job, is_own: true }, ...others];
  });
  const now = surroundings.clock.now();
  if (flags.json) {
    surroundings.stdout.write(jsonLine({ at: new Date(now).toISOString(), daemon, polling_mode, jobs: rows }));
    return exitCodes.ok;
  }
  const lines = [...tableLines(rows, polling_mode, now), ...(daemon ? [] : ['', noDaemon])];
  surroundings.stdout.write(`${lines.join('\n')}\n`);
  return exitCodes.ok;
}

const noDaemon = 'No daemon is running. The rows are the last stored state; frequent jobs are stored once a minute.';

function tableLines(rows: readonly JobRow[], mode: string, now: number): string[] {
  const isShared = rows.some(({ is_own }) => !is_own);
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
      row.last_run_at === null ? 'never' : agoText(now - Date.parse(row.last_run_at)),
      row.is_running ? 'running' : (row.outcome ?? '-'),
      row.duration_ms === null ? '-' : durationText(row.duration_ms),
      countText(row.failures),
      row.next_due_at === null ? '-' : dueText(Date.parse(row.next_due_at) - now),
      ...(isShared ? [ownerText(row)] : []),
    ]),
  );
  return [head, ...lines.flatMap((line, at) => [line, ...errorLines(rows[at])])];
}

/** Shown below the job that failed. */
function errorLines(row: JobRow | undefined): string[] {
  return row?.outcome === 'failed' && row.error !== null ? [`  ${harmlessLine(row.error)}`] : [];
}

function everyText({ name, interval_ms: intervalMs }: JobRow, mode: string): string {
  if (name !== 'tracker_poll') return intervalMs === null ? '-' : durationText(intervalMs);
  if (intervalMs === null) return 'by mode';
  return `${durationText(intervalMs)} (${harmlessLine(mode)})`;
}

function agoText(ms: number): string {
  return ms < 1_000 ? 'just now' : `${durationText(wholeSeconds(ms))} ago`;
}

/** An overdue job waits for its daemon: none is running, or it is busy with the job. */
function dueText(ms: number): string {
  if (Math.abs(ms) < 1_000) return 'now';
  return ms > 0 ? `in ${durationText(wholeSeconds(ms))}` : `overdue for ${durationText(wholeSeconds(-ms))}`;
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

function ownerText({ owner, is_own }: JobRow): string {
  if (owner === '') return 'any';
  if (owner === null) return '-';
  const short = harmlessLine(owner).slice(0, 8);
  return is_own ? `${short} (this)` : short;
}
