import { sleep } from '../../clock/clock.ts';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { quietLogger } from '../../daemon/quiet-logger.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { daemonStatus, openWorkplace, type Workplace } from '../../daemon/workplace.ts';
import type { RunRecord, WorkspaceRemoval } from '../../store/tables/runs.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { presentRow, type WorkspaceFlags, whyThere } from './list.ts';
import { isNamed, readWorkspaces, type WorkspaceRow } from './read-workspaces.ts';
import { sizeText, sumText } from './size-text.ts';

interface PruneFlags extends WorkspaceFlags {
  readonly dryRun?: boolean;
  /** Also workspaces whose time is not over. */
  readonly allFinished?: boolean;
  readonly as?: string;
}

/** What happened to one workspace. */
interface Result {
  readonly row: WorkspaceRow;
  /** Null while the daemon has not reported it. */
  readonly removal: WorkspaceRemoval | null;
}

/** Work is saved before a removal, which takes long for a large workspace. */
const longestWaitMs = 600_000;
const lookEveryMs = 100;
/** The daemon itself is checked once in this many reads. */
const looksADaemon = 30;

/**
 * `baton workspace prune`: removes the workspaces of finished issues whose time is over, as the daemon's sweep does,
 * but now. Only an orchestrator removes: that of the running daemon, otherwise one that is created for this and locks
 * the state folder meanwhile.
 */
export async function prune(names: readonly string[], flags: PruneFlags, surroundings: Surroundings): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const ignoresRetention = flags.allFinished === true;
  const { rows, problem } = await readWorkspaces(workplace, { ignoresRetention });
  if (problem !== null) throw problem;
  const wanted = names.length === 0 ? rows : names.flatMap((name) => rowsNamed(rows, name));
  const going = wanted.filter(({ stay }) => stay === null);
  // Without names, only the workspaces to be removed are of interest.
  const staying = names.length === 0 ? [] : wanted.filter(({ stay }) => stay !== null);
  if (flags.dryRun === true) return tellPlan(going, staying, flags, surroundings);
  const results = going.length === 0 ? [] : await remove(workplace, going, flags, surroundings);
  return tellResults(results, staying, flags, surroundings);
}

function rowsNamed(rows: readonly WorkspaceRow[], name: string): WorkspaceRow[] {
  const meant = rows.filter((row) => isNamed(row, name));
  if (meant.length > 0) return meant;
  throw new BatonError('command_refused', `There is no workspace of "${name}".`, {
    nextStep: 'Run `baton workspace list` to see what is there.',
  });
}

async function remove(
  workplace: Workplace,
  going: readonly WorkspaceRow[],
  flags: PruneFlags,
  surroundings: Surroundings,
): Promise<readonly Result[]> {
  const issueIds = [...new Set(going.flatMap(({ run }) => run?.issueId ?? []))];
  if (await workplace.wake()) {
    const commandId = await askDaemonTo(workplace, issueIds, flags, surroundings);
    const isThere = async (): Promise<boolean> => (await daemonStatus(flags, surroundings)) !== null;
    return waitForResults(workplace, going, commandId, isThere);
  }
  const { createDaemon } = await import('../../daemon/daemon.ts');
  const { workflowPath } = workplace;
  const { stateDir } = flags;
  const options = { workflowPath, stateDir, trial: null, role: 'daemon', logger: quietLogger } as const;
  {
    await using alone = await createDaemon(options, surroundings);
    await alone.orchestrator.prune({ issueIds, ignoresRetention: flags.allFinished === true });
  }
  return readResults(workplace, going);
}

async function askDaemonTo(
  workplace: Workplace,
  issues: readonly string[],
  flags: PruneFlags,
  { hostName: host, userName }: Surroundings,
): Promise<string> {
  const id = systemChance.id();
  await workplace.store.commands.submit({
    id,
    project: workplace.project.id,
    kind: 'workspaces_prune',
    payload: { issues, host, ignores_retention: flags.allFinished === true },
    author: { kind: 'person', name: flags.as ?? userName },
    at: systemClock.now(),
    key: null,
  });
  await workplace.wake();
  return id;
}

/** The daemon records with each run what happened to its workspace. */
async function waitForResults(
  workplace: Workplace,
  going: readonly WorkspaceRow[],
  commandId: string,
  isDaemonThere: () => Promise<boolean>,
): Promise<readonly Result[]> {
  const deadline = systemClock.monotonic() + longestWaitMs;
  for (let looks = 1; ; looks += 1) {
    // Checked before the results are read: if the daemon is gone, its results are then complete.
    const isOver = systemClock.monotonic() > deadline || (looks % looksADaemon === 0 && !(await isDaemonThere()));
    const results = await readResults(workplace, going);
    if (isOver || results.every(({ removal }) => removal !== null)) return results;
    const answer = (await workplace.store.commands.read(commandId))?.result;
    if (answer?.status === 'refused')
      throw new BatonError('command_refused', `The daemon refused the command: ${answer.text}`, {
        details: { id: commandId, kind: 'workspaces_prune', code: answer.code, data: answer.data },
      });
    await sleep(systemClock, lookEveryMs);
  }
}

async function readResults({ store }: Workplace, going: readonly WorkspaceRow[]): Promise<readonly Result[]> {
  return Promise.all(
    going.map(async (row) => ({ row, removal: newer(row.run, await store.runs.read(row.run?.runId ?? '')) })),
  );
}

/** The removal recorded since the plan was made. */
function newer(before: RunRecord | null, now: RunRecord | null): WorkspaceRemoval | null {
  const removal = now?.removal ?? null;
  return removal?.at === before?.removal?.at ? null : removal;
}

function tellPlan(
  going: readonly WorkspaceRow[],
  staying: readonly WorkspaceRow[],
  { json }: PruneFlags,
  { stdout }: Surroundings,
): number {
  const lines = [
    ...going.map(
      ({ entry, run }) => `would remove  ${name(run)}  ${sizeText(entry.bytes)}  ${harmlessLine(entry.path)}`,
    ),
    ...staying.map((row) => `would stay    ${name(row.run)}: ${harmlessLine(whyThere(row))}`),
    `${sumText(going.map(({ entry }) => entry.bytes))}; nothing was changed`,
  ];
  const report = { dry_run: true, would_remove: going.map(presentRow), stays: staying.map(presentRow) };
  stdout.write(json ? jsonLine(report) : `${lines.join('\n')}\n`);
  return exitCodes.ok;
}

const stillThere = 'the daemon has not reported what became of it; its log says more';

function tellResults(
  results: readonly Result[],
  staying: readonly WorkspaceRow[],
  { json }: PruneFlags,
  { stdout }: Surroundings,
): number {
  const removed = results.filter(({ removal }) => removal !== null && removal.keptBecause === null);
  const kept = [
    ...results
      .filter((each) => !removed.includes(each))
      .map(({ row, removal }) => ({ row, reason: removal?.keptBecause ?? stillThere })),
    ...staying.map((row) => ({ row, reason: whyThere(row) })),
  ];
  const lines = [
    ...removed.flatMap(({ row: { entry, run }, removal }) => [
      `removed  ${name(run)}  ${sizeText(entry.bytes)}`,
      ...(removal?.saved ?? []).map(({ restore }) => `         its work is saved: ${harmlessLine(restore)}`),
    ]),
    ...kept.map(({ row, reason }) => `stays    ${name(row.run)}: ${harmlessLine(reason)}`),
    `removed: ${sumText(removed.map(({ row }) => row.entry.bytes))}`,
  ];
  const report = {
    dry_run: false,
    removed: removed.map(({ row, removal }) => ({ ...presentRow(row), saved: removal?.saved ?? [] })),
    stays: kept.map(({ row, reason }) => ({ ...presentRow(row), reason })),
  };
  stdout.write(json ? jsonLine(report) : `${lines.join('\n')}\n`);
  return kept.length === 0 ? exitCodes.ok : exitCodes.error;
}

function name(run: RunRecord | null): string {
  return harmlessLine(run?.identifier ?? '-').padEnd(12);
}
