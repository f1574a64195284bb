import { toBatonError } from '../../core/baton-error.ts';
import { retryCommand } from '../../core/command/retry-command.ts';
import type { Author } from '../../core/issue/author.ts';
import { type ClaimState, decideTransition, type Transition } from '../../core/pipeline/completion.ts';
import type { PhaseRecord } from '../../core/pipeline/phase.ts';
import { markedToSkip } from '../../core/pipeline/phase-labels.ts';
import type { Opinion } from '../../core/pull/judge.ts';
import type { Settings } from '../../core/settings.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { StoreTables } from '../../store/store.ts';
import type { StoredCompletion } from '../../store/tables/pipeline/completion-claims.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';
import type { Candidates } from '../poll/candidates.ts';
import type { Phases } from './phases.ts';

/*
 * The moves of issues from phase to phase. What must hold:
 *
 * - A completion claim is decided once, in the transaction that ends its run; where that did not happen, in the first step
 *   of a later tick, and then only while no run of the issue is in progress and no one else has it.
 * - The record of the phase and the decision about the claim are written together.
 */

export interface JudgedClaim {
  readonly opinion: Opinion;
  readonly by: Author;
}

/** What follows from a completion claim. */
export function transitionOf(
  claim: Pick<StoredCompletion, 'phase' | 'skipTo' | 'found'>,
  record: Pick<PhaseRecord, 'phase' | 'revisions'> | null,
  {
    pipeline,
    labels,
    judged,
  }: {
    readonly pipeline: Settings['pipeline'];
    readonly labels: readonly string[];
    readonly judged: JudgedClaim | null;
  },
): Transition {
  return decideTransition(
    {
      claim,
      found: claim.found,
      record: record ?? { phase: '', revisions: 0 },
      marked: markedToSkip(labels),
      opinion: judged?.opinion ?? null,
    },
    pipeline,
  );
}

const stateAfter: Readonly<Record<Transition['to'], Exclude<ClaimState, 'pending'>>> = {
  advance: 'advanced',
  judge: 'judging',
  revise: 'revise',
  person: 'person',
  nothing: 'withdrawn',
};

/** Decides a claim and moves the issue, in an open transaction. False: someone else decided it, and nothing is written. */
export async function writeTransition(
  { phases, completionClaims }: Pick<StoreTables, 'phases' | 'completionClaims'>,
  key: IssueKey,
  claim: Pick<StoredCompletion, 'id' | 'phase'> & { readonly state: 'pending' | 'judging' },
  transition: Transition,
  { now, judged }: { readonly now: number; readonly judged: JudgedClaim | null },
): Promise<boolean> {
  const record = await phases.lock(key);
  const isStill = record?.phase === claim.phase;
  const state = isStill ? stateAfter[transition.to] : 'withdrawn';
  const reasons = 'reasons' in transition ? transition.reasons : transition.warnings;
  const verdict = judged === null ? {} : { opinion: judged.opinion, by: judged.by };
  if (!(await completionClaims.decide(claim.id, claim.state, { state, reasons, at: now, ...verdict }))) return false;
  const after = isStill ? recordAfter(record, transition, now) : null;
  if (after !== null) await phases.put(key, after);
  return true;
}

function recordAfter(record: PhaseRecord, transition: Transition, now: number): PhaseRecord | null {
  switch (transition.to) {
    case 'advance': {
      const skipped = [...new Set([...record.skipped, ...transition.skipped])];
      return { ...record, phase: transition.phase, since: now, revisions: 0, revisionSince: null, skipped };
    }
    case 'revise':
      return { ...record, revisions: record.revisions + 1, revisionSince: now };
    case 'person':
      return { ...record, revisionSince: now };
    case 'judge':
    case 'nothing':
      return null;
  }
}

export interface TransitionParts
  extends Pick<BaseParts, 'clock' | 'isShared' | 'logger' | 'owner' | 'project' | 'source' | 'store' | 'stopping'> {
  readonly claims: Claims;
  readonly candidates: Candidates;
  readonly phases: Phases;
}

/** The first step of a tick: decides the claims whose run ended without a decision, because its daemon was lost or its issue moved. */
export async function decidePending(parts: TransitionParts): Promise<void> {
  const { claims, isShared, phases, project, store, stopping, logger } = parts;
  if (!phases.isOn) return;
  const open = await store.completionClaims.allOpen(project);
  // Another daemon on the store may have moved issues.
  if (isShared) await phases.readChanges(open);
  for (const [issueId, claim] of open) {
    if (stopping.aborted) return;
    const status = claims.get(issueId)?.status;
    const isBusy = status === 'running' || status === 'held' || status === 'inheriting' || claims.isChanging(issueId);
    if (claim.state !== 'pending' || isBusy) continue;
    try {
      if (!(await decideOne(parts, issueId, claim))) continue;
      phases.forget(issueId);
      const retrying = claims.retrying.get(issueId);
      if (retrying?.wait?.code === 'phase_pending') claims.postpone(retrying, { delayMs: 0 });
    } catch (thrown) {
      logger.error('phase_transition_failed', { issue_id: issueId, phase: claim.phase, error: toBatonError(thrown) });
    }
  }
}

async function decideOne(parts: TransitionParts, issueId: string, claim: StoredCompletion): Promise<boolean> {
  const { claims, candidates, clock, project, source, store } = parts;
  const key = { project, issueId };
  const now = clock.now();
  const { pipeline } = source.read().workflow.settings;
  const issue = candidates.withReviews?.find(({ id }) => id === issueId);
  const judged = null;
  if (!(await isDecidedHere(store, parts, issueId, now))) return false;
  const transition = transitionOf(claim, await store.phases.read(key), {
    pipeline,
    labels: issue?.labels ?? [],
    judged,
  });
  if (transition.to === 'person') {
    // Before the claim is decided: a crash in between holds it again.
    const identifier = issue?.identifier ?? claims.retrying.get(issueId)?.issue.identifier ?? issueId;
    const reason = `${transition.reasons.join(' ')} To continue: ${retryCommand(identifier)}`;
    await claims.hold({
      issue: { id: issueId, identifier },
      code: 'revisions_exhausted',
      reason,
      since: now,
      runId: claim.runId,
    });
  }
  return store.transaction(async (tables) => {
    if (!(await isDecidedHere(tables, parts, issueId, now))) return false;
    return writeTransition(tables, key, { ...claim, state: 'pending' }, transition, { now, judged });
  });
}

/** No other daemon has the issue, and no run of it is in progress: its end would decide. */
async function isDecidedHere(
  { claims, runs }: Pick<StoreTables, 'claims' | 'runs'>,
  { owner, project }: Pick<TransitionParts, 'owner' | 'project'>,
  issueId: string,
  now: number,
): Promise<boolean> {
  const holder = (await claims.held(project, now)).find((each) => each.issueId === issueId);
  if (holder !== undefined && holder.owner !== owner && !holder.isExpired) return false;
  return !(await runs.unfinished(project)).some((run) => run.issueId === issueId);
}
