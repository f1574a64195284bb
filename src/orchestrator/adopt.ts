import type { AgentProcess } from '../agent/agent.ts';
import { survivesReason } from '../core/retry-command.ts';
import { unseen } from '../core/run-evidence.ts';
import type { RunFinish, RunRecord } from '../store/runs.ts';
import type { OrchestratorContext } from './context.ts';
import { scheduleLook } from './schedule-look.ts';
import { type HeldEntry, isClaimed, type Look, type SchedulingState, slotOfHold } from './scheduling-state.ts';
import type { Inheritance } from './takeover.ts';

/**
 * Takes over what nobody alive has any more: issues of an earlier life of this daemon, of a daemon that stopped in order,
 * and of one whose lease is over. Startup and every tick use the same path (law 3). For each issue, in this order: its
 * generation is raised, so that whoever had it cannot write any more; the processes of its runs are ended; the runs end
 * as interrupted, which raises no counter and no backoff; what they committed is brought home; and it is held, or looked at when its retry is due, or at once.
 * What another daemon alive has claimed is only noted.
 */
export async function adoptAll(context: OrchestratorContext, issueIds: readonly string[]): Promise<void> {
  const free = issueIds.filter((id) => !isClaimed(context.state, id));
  await Promise.all(free.map((id) => adopt(context, id)));
}

/** The issues that nobody alive has and that something is behind. What other daemons have is noted. */
export async function findOrphans({ store, project, owner, clock, state }: OrchestratorContext): Promise<string[]> {
  const found = await store.recovery(project, clock.now());
  const elsewhere = found.claims.filter((claim) => claim.owner !== owner && !claim.isExpired);
  state.elsewhere = elsewhere.map(({ issueId, host, slotState }) => ({ issueId, host, slotState }));
  const foreign = new Set(elsewhere.map(({ issueId }) => issueId));
  const behind = [...found.claims, ...found.unfinishedRuns, ...found.retries, ...found.held];
  const ids = new Set(behind.map(({ issueId }) => issueId));
  const orphans = [...ids].filter((id) => !foreign.has(id) && !isClaimed(state, id));
  const survivors = found.held.filter((hold) => slotOfHold(hold) !== null);
  const mayLive = new Set([...found.unfinishedRuns, ...survivors].map(({ issueId }) => issueId));
  state.leftBehind.clear();
  for (const id of mayLive) if (!foreign.has(id) && !isSettled(state, id)) state.leftBehind.add(id);
  return orphans;
}

/** Ours, and not only being taken over, or being held by a command that may fail. */
function isSettled({ running, retrying, held }: SchedulingState, id: string): boolean {
  return running.has(id) || retrying.has(id) || held.has(id);
}

async function adopt(context: OrchestratorContext, issueId: string): Promise<void> {
  const { state, takeover, logger, source } = context;
  const { leaseMs } = source.read().workflow.settings.store;
  state.adopting.add(issueId);
  try {
    const inheritance = await takeover.inherit(issueId, leaseMs);
    if (inheritance === null) return void state.leftBehind.delete(issueId);
    const hold = (await endRuns(context, inheritance.runs)) ?? inheritance.hold;
    const look = inheritance.look ?? (await lookNow(context, issueId, inheritance));
    const isOurs =
      inheritance.runs.length === 0 || (await takeover.endRuns({ ...inheritance, hold }, look, interruption(context)));
    state.leftBehind.delete(issueId);
    for (const { runId } of inheritance.runs) await context.accounts.probeEnded(runId);
    // Beside the rest: nobody waits for a disk here, and a next run does no harm to it.
    if (isOurs) context.own('branch', bringHome(context, inheritance.runs));
    state.adopting.delete(issueId);
    if (!isOurs) state.generations.delete(issueId);
    else if (hold !== null) keepHeld(context, hold);
    else scheduleLook(context, look, { delayMs: waitFor(context, look) });
  } catch (error) {
    // The next tick finds it again.
    state.generations.delete(issueId);
    state.lookedAt.orphansLookedForAt = Number.NEGATIVE_INFINITY;
    logger.error('claim_inherit_failed', { issue_id: issueId, error });
  } finally {
    state.adopting.delete(issueId);
    context.notify();
  }
}

function keepHeld({ state, logger }: OrchestratorContext, hold: HeldEntry): void {
  const { issue, code, reason } = hold;
  state.held.set(issue.id, hold);
  logger.warn('issue_held', {
    issue_id: issue.id,
    issue_identifier: issue.identifier,
    code,
    reason,
  });
}

/** Ends what is left of the runs on this machine. A hold for the issue when something could not be ended. */
async function endRuns(context: OrchestratorContext, runs: readonly RunRecord[]): Promise<HeldEntry | null> {
  const { host, processes, logger, clock } = context;
  let hold: HeldEntry | null = null;
  for (const run of runs) {
    const named = { issue_id: run.issueId, issue_identifier: run.identifier, run_id: run.runId };
    // Another machine cannot be reached; there the daemon ended its agents before its lease did, or the kernel with it.
    const { ended, left } =
      run.host === host ? await processes.endRun(run.runId, processOf(run)) : { ended: 0, left: 0 };
    logger.warn('inherited_run_ended', { ...named, processes_ended: ended, processes_left: left });
    if (left === 0) continue;
    const issue = { id: run.issueId, identifier: run.identifier };
    const what = left === 1 ? '1 process of an earlier agent' : `${left} processes of an earlier agent`;
    const reason = survivesReason(`${what} could not be ended.`, run.identifier);
    hold = { issue, code: 'agent_survives', reason, since: clock.now(), runId: run.runId };
  }
  return hold;
}

/** What the last of them committed must not wait for a next run: there may be none. */
async function bringHome(context: OrchestratorContext, runs: readonly RunRecord[]): Promise<void> {
  const last = runs.at(-1);
  if (last === undefined || last.workspace === null || last.host !== context.host) return;
  const issue = { id: last.issueId, identifier: last.identifier, title: '' };
  const workspaces = context.workspacesFor(context.source.read().workflow.settings);
  const delivery = await workspaces.bringHome(last.workspace, { issue, runId: last.runId, attempt: last.attempt });
  if (delivery === null) return;
  try {
    await context.store.runs.noteEvidence(last.runId, { ...(last.evidence ?? unseen), delivery });
  } catch (error) {
    context.logger.warn('publish_write_failed', { run_id: last.runId, error });
  }
}

/** By pid and start time it is found even if it has taken its marker off. */
function processOf({ pid, pidStartTime: startTime }: RunRecord): AgentProcess | null {
  return pid === null ? null : { pid, startTime };
}

/** An interrupted issue goes on at once, with the attempt it had. */
async function lookNow(context: OrchestratorContext, issueId: string, { runs, hold }: Inheritance): Promise<Look> {
  const { failures, staleRuns } = await context.ledger.counts(issueId);
  const last = runs.at(-1);
  return {
    issue: { id: issueId, identifier: last?.identifier ?? hold?.issue.identifier ?? issueId },
    kind: 'interrupted',
    attempt: last?.attempt ?? null,
    failures,
    staleRuns,
    recovery: last?.recovery ?? null,
    note: null,
    error: interrupted,
    dueAt: context.clock.now(),
  };
}

const interrupted = 'The daemon ended before the run did.';

function interruption({ clock }: OrchestratorContext): RunFinish {
  return {
    endedAt: clock.now(),
    outcome: 'interrupted',
    errorCode: 'orchestrator_restarted',
    errorMessage: interrupted,
  };
}

/** No quota is longer away than this. */
const longestQuotaWaitMs = 7 * 24 * 3_600_000;

/** Until the retry is due, by the wall clock; one that was set back meanwhile makes nobody wait longer than a retry may. */
function waitFor({ clock, source }: OrchestratorContext, { dueAt, kind }: Look): number {
  const { maxRetryBackoffMs } = source.read().workflow.settings.agent;
  const longestMs = kind === 'quota' ? longestQuotaWaitMs : maxRetryBackoffMs * 1.1;
  return Math.min(Math.max(0, dueAt - clock.now()), longestMs);
}
