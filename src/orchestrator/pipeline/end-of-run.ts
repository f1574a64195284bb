import { BatonError } from '../../core/baton-error.ts';
import type { Transition } from '../../core/pipeline/completion.ts';
import type { PhaseRecord } from '../../core/pipeline/phase.ts';
import type { RunOutcome } from '../../core/run/run.ts';
import type { StoreTables } from '../../store/store.ts';
import type { StoredCompletion } from '../../store/tables/pipeline/completion-claims.ts';
import type { Running } from '../claims/claim.ts';
import type { BaseParts } from '../parts.ts';
import { hasVerdict } from '../review/judges.ts';
import { type JudgedClaim, transitionOf, writeTransition } from './transitions.ts';

export type PhaseEndParts = Pick<BaseParts, 'clock' | 'logger' | 'project' | 'source' | 'store'>;

type PhaseTables = Pick<StoreTables, 'phases' | 'completionClaims' | 'runs'>;

/**
 * Before the end of a run of the pipeline is decided: where its issue is now, and which completion claim is open. The store
 * knows what another daemon or a person changed, and a claim whose answer was lost. If it does not answer, memory counts.
 */
export async function readPhase({ logger, project, store }: PhaseEndParts, running: Running): Promise<void> {
  if (running.phase === null) return;
  const key = { project, issueId: running.issue.id };
  try {
    takeIn(running, await store.phases.read(key), await store.completionClaims.openOf(key));
  } catch (error) {
    logger.warn('phase_transition_failed', { issue_id: running.issue.id, phase: running.phase, error });
  }
}

/** Returns whether it differs from what was known. */
function takeIn(running: Running, record: PhaseRecord | null, open: StoredCompletion | null): boolean {
  const { phaseNow, revisions, completion } = running;
  running.phaseNow = record?.phase ?? running.phase;
  running.revisions = record?.revisions ?? 0;
  const isOwn =
    running.role === 'phase_judge'
      ? open?.id === running.judgedClaim && open?.state === 'judging'
      : open?.runId === running.runId && open?.state === 'pending';
  running.completion = isOwn ? open : null;
  return running.phaseNow !== phaseNow || running.revisions !== revisions || running.completion?.id !== completion?.id;
}

/** What follows from what a phase agent completed, or from what a judge said about an artifact; null: nothing was said. */
export function completionOf(
  { source }: Pick<PhaseEndParts, 'source'>,
  running: Running,
  outcome: RunOutcome,
): Transition | null {
  const { completion, issue, phase, phaseNow, revisions, role } = running;
  if (phase === null) return null;
  // A person moved the issue, or decided in the place of the judge.
  if (phaseNow !== phase || (role === 'phase_judge' && completion === null)) return { to: 'nothing', reasons: [] };
  const judged = judgedBy(running, outcome);
  if (completion === null || (role === 'phase_judge' && judged === null)) return null;
  const { pipeline } = source.read().workflow.settings;
  return transitionOf(completion, { phase, revisions }, { pipeline, labels: issue.labels, judged });
}

/** With the end of a run: decides its completion claim, and moves its issue to the next phase. */
export async function writePhaseEnd(
  parts: PhaseEndParts,
  tables: PhaseTables,
  running: Running,
  outcome: RunOutcome,
): Promise<void> {
  if (running.phase === null) return;
  // It was written before, and only the answer was lost: what was decided then stays.
  if ((await tables.runs.read(running.runId))?.finish != null) return;
  const key = { project: parts.project, issueId: running.issue.id };
  if (takeIn(running, await tables.phases.lock(key), await tables.completionClaims.openOf(key)))
    throw new BatonError('store_busy', 'The phase of the issue changed while the end of its run was decided.');
  const { completion, role } = running;
  const transition = completionOf(parts, running, outcome);
  if (completion === null || transition === null) return;
  const state = role === 'phase_judge' ? 'judging' : 'pending';
  const judged = judgedBy(running, outcome);
  await writeTransition(tables, key, { ...completion, state }, transition, { now: parts.clock.now(), judged });
}

function judgedBy(running: Running, outcome: RunOutcome): JudgedClaim | null {
  const { opinion, role, runId } = running;
  if (role !== 'phase_judge' || opinion === null || !hasVerdict(running, outcome)) return null;
  return { opinion, by: { kind: 'run', runId } };
}
