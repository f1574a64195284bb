import { errorFrom } from '../../client/api-client.ts';
import type { Run } from '../../client/schema/run.ts';
import type { WorkspaceRow } from '../../client/schema/workspace.ts';
import { sleep } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { isMeantBy } from '../../core/issue/issue.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Connection } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { connectAs, sendCommand } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import type { WorkspaceFlags } from './list.ts';
import { sizeText, sumText } from './size-text.ts';

interface PruneFlags extends WorkspaceFlags {
  readonly dryRun?: boolean;
  /** Also workspaces whose retention is not over. */
  readonly allFinished?: boolean;
  readonly as?: string;
}

/** What happened to one workspace. */
interface Result {
  readonly row: WorkspaceRow;
  /** Null while the daemon has not reported it. */
  readonly removal: Run['removal'];
}

/** Work is saved before a removal, which takes long for a large workspace. */
const longestWaitMs = 600_000;
const lookEveryMs = 100;

/**
 * `baton workspace prune`: removes the workspaces of finished issues whose retention is over, as the daemon's sweep
 * does, but now.
 */
export async function prune(names: readonly string[], flags: PruneFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connectAs(flags, surroundings);
  const ignoresRetention = flags.allFinished === true;
  const { workspaces: rows, problem } = await connection.project.workspaces({ ignoresRetention });
  if (problem !== null) throw errorFrom(problem);
  const wanted = names.length === 0 ? rows : names.flatMap((name) => rowsNamed(rows, name));
  const going = wanted.filter((row) => row.may_go);
  // Without names, only the workspaces to be removed are of interest.
  const staying = names.length === 0 ? [] : wanted.filter((row) => !row.may_go);
  if (flags.dryRun === true) return tellPlan(going, staying, flags, surroundings);
  const results = going.length === 0 ? [] : await remove(connection, going, ignoresRetention, surroundings);
  return tellResults(results, staying, flags, surroundings);
}

/** The workspaces that a name means: by the id or name of the issue, or by the name of the folder. */
function rowsNamed(rows: readonly WorkspaceRow[], name: string): WorkspaceRow[] {
  const meant = rows.filter(({ key, issue_id: id, issue_identifier: identifier }) => {
    const isIssue = id !== null && identifier !== null && isMeantBy({ id, identifier }, name);
    return isIssue || key === name.trim();
  });
  if (meant.length > 0) return meant;
  throw new BatonError('command_refused', `There is no workspace of "${name}".`, {
    nextStep: 'Run `baton workspace list` to see what is there.',
  });
}

/** Asks for the removal and waits for its results. The orchestrator records with each run what happened. */
async function remove(
  connection: Connection,
  going: readonly WorkspaceRow[],
  ignoresRetention: boolean,
  surroundings: Surroundings,
): Promise<readonly Result[]> {
  const { clock } = surroundings;
  const issues = [...new Set(going.flatMap(({ issue_id: id }) => id ?? []))];
  const request = { kind: 'workspaces_prune', issues, ignores_retention: ignoresRetention } as const;
  await sendCommand(connection, request, {}, surroundings);
  const deadline = clock.monotonic() + longestWaitMs;
  for (;;) {
    // Checked before the results are read: without a daemon nothing more happens, so they are complete.
    const isOver = clock.monotonic() > deadline || !connection.isDaemon();
    const results = await Promise.all(going.map((row) => resultOf(connection, row)));
    if (isOver || results.every(({ removal }) => removal !== null)) return results;
    await sleep(clock, lookEveryMs);
  }
}

/** A removal counts if it was recorded after the plan was made. */
async function resultOf({ project }: Connection, row: WorkspaceRow): Promise<Result> {
  if (row.last_run === null) return { row, removal: null };
  const { removal } = await project.run(row.last_run.run_id);
  return { row, removal: removal?.at === row.last_run.removal?.at ? null : removal };
}

function tellPlan(
  going: readonly WorkspaceRow[],
  staying: readonly WorkspaceRow[],
  { json }: PruneFlags,
  { stdout }: Surroundings,
): number {
  const lines = [
    ...going.map((row) => `would remove  ${name(row)}  ${sizeText(row.bytes)}  ${harmlessLine(row.path)}`),
    ...staying.map((row) => `would stay    ${name(row)}: ${harmlessLine(row.reason)}`),
    `${sumText(going.map(({ bytes }) => bytes))}; nothing changed`,
  ];
  const report = { dry_run: true, would_remove: going, stays: staying };
  stdout.write(json ? jsonLine(report) : `${lines.join('\n')}\n`);
  return exitCodes.ok;
}

const stillThere = 'the daemon has not reported what happened to it; its log says more';

function tellResults(
  results: readonly Result[],
  staying: readonly WorkspaceRow[],
  { json }: PruneFlags,
  { stdout }: Surroundings,
): number {
  const removed = results.filter(({ removal }) => removal !== null && removal.kept_because === null);
  const kept = [
    ...results
      .filter((each) => !removed.includes(each))
      .map(({ row, removal }) => ({ ...row, reason: removal?.kept_because ?? stillThere })),
    ...staying,
  ];
  const lines = [
    ...removed.flatMap(({ row, removal }) => [
      `removed  ${name(row)}  ${sizeText(row.bytes)}`,
      ...(removal?.saved ?? []).map(({ restore }) => `         its work is saved: ${harmlessLine(restore)}`),
    ]),
    ...kept.map((row) => `stays    ${name(row)}: ${harmlessLine(row.reason)}`),
    `removed: ${sumText(removed.map(({ row }) => row.bytes))}`,
  ];
  const report = {
    dry_run: false,
    removed: removed.map(({ row, removal }) => ({ ...row, saved: removal?.saved ?? [] })),
    stays: kept,
  };
  stdout.write(json ? jsonLine(report) : `${lines.join('\n')}\n`);
  return kept.length === 0 ? exitCodes.ok : exitCodes.error;
}

function name({ issue_identifier: identifier }: WorkspaceRow): string {
  return harmlessLine(identifier ?? '-').padEnd(12);
}
