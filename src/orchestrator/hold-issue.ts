import { BatonError } from '../core/baton-error.ts';
import { startStillOwed } from '../core/thread-to-resume.ts';
import type { OrchestratorContext } from './context.ts';
import { noStreaks } from './issue-counters.ts';
import { mostEarlier } from './ledger.ts';
import { forgetLook, scheduleLook } from './schedule-look.ts';
import type { HeldEntry, HoldReason, Look, RunningEntry } from './scheduling-state.ts';
import { tryLogins } from './try-accounts.ts';

/** Holds an issue for a person; a promise to look at it ends. Rejects when it could not be written down. */
export async function holdIssue(context: OrchestratorContext, entry: HeldEntry): Promise<void> {
  const { state, ledger, logger, source, clock } = context;
  const { issue, code, reason } = entry;
  const { leaseMs } = source.read().workflow.settings.store;
  // While it is written nobody may look at the issue and start it, nor take it for one that was left behind.
  const look = state.retrying.get(issue.id);
  const isOurs = !state.adopting.has(issue.id);
  forgetLook(context, issue.id);
  state.adopting.add(issue.id);
  try {
    if (!(await ledger.hold(entry, leaseMs)))
      throw new BatonError('claim_lost', `${issue.identifier} belongs to another daemon.`);
  } catch (thrown) {
    if (look !== undefined) scheduleLook(context, look, { delayMs: Math.max(0, look.dueAt - clock.now()) });
    throw thrown;
  } finally {
    if (isOurs) state.adopting.delete(issue.id);
  }
  state.held.set(issue.id, entry);
  context.notify();
  const named = { issue_id: issue.id, issue_identifier: issue.identifier };
  logger.warn('issue_held', { ...named, code, reason });
}

/** Holds the issue of a run when that has ended. It is written down now: a crash before that end must not forget it. */
export async function holdAfterRun(
  context: OrchestratorContext,
  run: RunningEntry,
  { code, reason }: HoldReason,
): Promise<void> {
  // What a person takes into his hands stays there, whatever else it is held for.
  if (run.holdAfterwards?.code === 'taken_over' && code !== 'taken_over') return;
  run.holdAfterwards = { code, reason };
  const { issue, runId } = run;
  const hold = { issue, code, reason, since: context.clock.now(), runId };
  if ((await context.ledger.holdAfterRun(hold)) || run.before !== null) return;
  throw new BatonError('claim_lost', `The run of ${issue.identifier} is just beginning.`);
}

/**
 * Lifts a hold, or one that waits for the end of a run; false when there was none. A person who does it gives the issue a
 * new allowance: runs, tokens, failures are counted anew. What its last run was to go on with, and could not because it
 * never had a session, the next one goes on with.
 */
export async function releaseHold(
  context: OrchestratorContext,
  issueId: string,
  options: { readonly byPerson: boolean },
): Promise<boolean> {
  const { state, ledger } = context;
  const running = state.running.get(issueId);
  if (running !== undefined && running.holdAfterwards !== null) {
    await ledger.forgetHold(issueId);
    running.holdAfterwards = null;
    context.notify();
    // Its end may have been written meanwhile, and the hold with it.
    if (!state.held.has(issueId)) return true;
  }
  if (!state.held.has(issueId)) return false;
  if (options.byPerson && (await startWhatIsOwed(context, issueId))) return true;
  const isOurs = await ledger.release(issueId, options);
  state.held.delete(issueId);
  if (!isOurs && options.byPerson) throw new BatonError('claim_lost', 'The issue belongs to another daemon by now.');
  context.reads.forget(issueId);
  context.notify();
  return true;
}

/** Looks at the issue for a start that is still owed; false when there is none. Its note is with the last run. */
async function startWhatIsOwed(context: OrchestratorContext, issueId: string): Promise<boolean> {
  const { store, project, reads } = context;
  const owed = startStillOwed(await store.runs.list(project, { issueId, limit: mostEarlier }));
  if (owed === null) return false;
  const { retryKind, recovery = null, attempt } = owed;
  // What does something differently follows a failure.
  const kind = retryKind ?? 'failure';
  await promiseLook(context, issueId, { kind, note: null, recovery, attempt }, { byPerson: true });
  reads.forget(issueId);
  return true;
}

/**
 * A held issue goes on: the hold ends, and it is looked at now. What was counted of it stays: nobody gave it a new
 * allowance. Rejects when it could not be written down.
 */
export async function lookInsteadOfHold(
  context: OrchestratorContext,
  issueId: string,
  { kind, note }: Pick<Look, 'kind' | 'note'>,
): Promise<void> {
  const { state, store, project } = context;
  if (!state.held.has(issueId)) return;
  await tryLogins(context);
  const last = await store.runs.latestOfIssue({ project, issueId });
  const as = { kind, note, recovery: last?.recovery ?? null, attempt: last?.attempt ?? null };
  await promiseLook(context, issueId, as, { byPerson: false });
}

async function promiseLook(
  context: OrchestratorContext,
  issueId: string,
  as: Pick<Look, 'kind' | 'note' | 'recovery' | 'attempt'>,
  options: { readonly byPerson: boolean },
): Promise<void> {
  const { state, ledger, clock } = context;
  const { failures, staleRuns } = options.byPerson ? noStreaks : await ledger.counts(issueId);
  const hold = state.held.get(issueId);
  if (hold === undefined) return;
  const look: Look = { ...as, issue: hold.issue, failures, staleRuns, error: null, dueAt: clock.now() };
  if (!(await ledger.lookInsteadOfHold(look, options)))
    throw new BatonError('claim_lost', `${hold.issue.identifier} belongs to another daemon by now.`);
  state.held.delete(issueId);
  scheduleLook(context, look, { delayMs: 0 });
}
