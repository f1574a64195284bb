import type { AgentProcess } from '../../agent/agent.ts';
import { BatonError } from '../../core/baton-error.ts';
import { survivesReason } from '../../core/command/retry-command.ts';
import { roleOf } from '../../core/run/role.ts';
import type { RunFinish, RunRecord } from '../../store/tables/runs.ts';
import type { BaseParts } from '../parts.ts';
import type { Accounts } from '../runs/accounts.ts';
import { publishLast } from '../runs/publish-last.ts';
import { failTask } from '../tasks/task-runs.ts';
import { type Hold, type Retry, slotOfHold } from './claim.ts';
import type { Inheritance } from './claim-writes.ts';
import { type Claims, foreign } from './claims.ts';

export interface InheritParts
  extends Pick<
    BaseParts,
    'clock' | 'host' | 'logger' | 'own' | 'owner' | 'processes' | 'project' | 'source' | 'store' | 'workspacesFor'
  > {
  readonly claims: Claims;
  readonly accounts: Accounts;
  /** The issue could not be inherited now: the next tick looks for orphans again. */
  readonly findOrphansSoon: () => void;
}

/**
 * Inherits issues that no live daemon has: those of this daemon before a restart, of a daemon that stopped in order,
 * and of one whose lease is over. Startup and every tick use the same path. For each issue, in this order: raise its
 * generation, so that the previous owner cannot write any more; end the processes of its runs; end the runs as
 * interrupted, which raises no counter and no backoff; publish their commits; and hold the issue, or try it when its
 * retry is due, or at once. Claims of other live daemons are only noted.
 */
export async function inheritAll(parts: InheritParts, issueIds: readonly string[]): Promise<void> {
  await Promise.all(issueIds.map((id) => inherit(parts, id)));
}

/** Finds the issues that no live daemon has and that left something to inherit. Notes the claims of other daemons. */
export async function findOrphans({
  claims,
  store,
  project,
  owner,
  clock,
}: Pick<InheritParts, 'claims' | 'store' | 'project' | 'owner' | 'clock'>): Promise<string[]> {
  const found = await store.recovery(project, clock.now());
  const elsewhere = found.claims.filter((claim) => claim.owner !== owner && !claim.isExpired);
  const theirs = new Set(elsewhere.map(({ issueId }) => issueId));
  const behind = [...found.claims, ...found.unfinishedRuns, ...found.retries, ...found.held];
  const ids = new Set(behind.map(({ issueId }) => issueId));
  const survivors = found.held.filter((hold) => slotOfHold(hold) !== null);
  const mayLive = new Set([...found.unfinishedRuns, ...survivors].map(({ issueId }) => issueId));
  const isOurs = (id: string): boolean => claims.has(id) && claims.get(id)?.status !== 'inheriting';
  claims.noteOthers(
    elsewhere.map(foreign),
    [...mayLive].filter((id) => !theirs.has(id) && !isOurs(id)),
  );
  return [...ids].filter((id) => !theirs.has(id) && !claims.has(id));
}

/**
 * Ends every process that this daemon left on this machine before a restart. It finds them by their marker, so it also
 * works when the store is new and knows no run. A process that cannot be ended and belongs neither to a run in progress
 * nor to an issue held for it could be an agent on any issue; then nothing may start.
 */
export async function endLeftoverProcesses({
  processes,
  store,
  project,
  logger,
}: Pick<InheritParts, 'processes' | 'store' | 'project' | 'logger'>): Promise<void> {
  const { ended, left } = await processes.endLeftovers();
  if (ended > 0) logger.warn('leftover_processes_ended', { processes: ended });
  const held = (await store.held.list(project)).filter(({ code }) => code === 'agent_survives');
  const known = new Set([...(await store.runs.unfinished(project)), ...held].map(({ runId }) => runId));
  const strangers = left.filter(({ runId }) => runId === null || !known.has(runId));
  if (strangers.length === 0) return;
  throw new BatonError('agent_survives', `Baton could not end ${strangers.length} processes of a previous daemon.`, {
    details: { run_ids: strangers.map(({ runId }) => runId) },
  });
}

async function inherit(parts: InheritParts, issueId: string): Promise<void> {
  const { claims, accounts, logger, own } = parts;
  try {
    const inherited = await claims.inherit(issueId, async (found) => {
      const hold = (await endRuns(parts, found.runs)) ?? found.hold;
      for (const { runId } of found.runs) await accounts.probeEnded(runId);
      // A task whose run died is over: its retry finds that.
      if (found.runs.length > 0) await failTask(parts, issueId);
      const retry = found.retry ?? (await retryNow(parts, issueId, found));
      return { hold, retry, delayMs: delayOf(parts, retry), end: interruption(parts) };
    });
    if (inherited === null) return;
    const { found, hold } = inherited;
    // Inheriting does not wait for the disk here, and a next run does not harm the publish.
    // Commits of the last run must not wait for a next run: there may be none.
    const last = found.runs.at(-1);
    if (last !== undefined) own('branch', publishLast(parts, last));
    if (hold === null) return;
    const { issue, code, reason } = hold;
    logger.warn('issue_held', { issue_id: issue.id, issue_identifier: issue.identifier, code, reason });
  } catch (error) {
    parts.findOrphansSoon();
    logger.error('claim_inherit_failed', { issue_id: issueId, error });
  }
}

/**
 * Ends the processes that these runs left on this machine. Returns a hold for the issue when one could not be ended.
 */
async function endRuns(
  { host, processes, logger, clock }: InheritParts,
  runs: readonly RunRecord[],
): Promise<Hold | null> {
  let hold: Hold | null = null;
  for (const run of runs) {
    const named = { issue_id: run.issueId, issue_identifier: run.identifier, run_id: run.runId };
    // Another machine cannot be reached. There the daemon ended its agents before its lease ran out, or the kernel
    // ended them with the daemon.
    const { ended, left } =
      run.host === host ? await processes.endRun(run.runId, processOf(run)) : { ended: 0, left: 0 };
    logger.warn('inherited_run_ended', { ...named, processes_ended: ended, processes_left: left });
    if (left === 0) continue;
    const issue = { id: run.issueId, identifier: run.identifier };
    const what = left === 1 ? '1 process of an earlier agent' : `${left} processes of an earlier agent`;
    const reason = survivesReason(`Baton could not end ${what}.`, run.identifier);
    hold = { issue, code: 'agent_survives', reason, since: clock.now(), runId: run.runId };
  }
  return hold;
}

/** Pid and start time find the process even if it has removed its marker. */
function processOf({ pid, pidStartTime: startTime }: RunRecord): AgentProcess | null {
  return pid === null ? null : { pid, startTime };
}

/** An interrupted issue continues at once, with the attempt it had. */
async function retryNow({ claims, clock }: InheritParts, issueId: string, { runs, hold }: Inheritance): Promise<Retry> {
  const { failures, staleRuns } = await claims.counts(issueId);
  const last = runs.at(-1);
  return {
    issue: { id: issueId, identifier: last?.identifier ?? hold?.issue.identifier ?? issueId },
    role: roleOf(last?.role ?? hold?.role),
    kind: 'interrupted',
    attempt: last?.attempt ?? null,
    failures,
    staleRuns,
    recovery: last?.recovery ?? null,
    agent: last?.chosenAgent ?? null,
    error: interrupted,
    dueAt: clock.now(),
  };
}

const interrupted = 'The daemon ended before the run did.';

function interruption({ clock }: InheritParts): RunFinish {
  return {
    endedAt: clock.now(),
    outcome: 'interrupted',
    errorCode: 'orchestrator_restarted',
    errorMessage: interrupted,
  };
}

/** No quota reset is further away than this. */
const longestQuotaWaitMs = 7 * 24 * 3_600_000;

/** Time until the retry is due on the wall clock; if that clock was set back, at most the longest retry delay. */
function delayOf({ clock, source }: InheritParts, { dueAt, kind }: Retry): number {
  const { maxRetryBackoffMs } = source.read().workflow.settings.agent;
  const longestMs = kind === 'quota' ? longestQuotaWaitMs : maxRetryBackoffMs * 1.1;
  return Math.min(Math.max(0, dueAt - clock.now()), longestMs);
}
