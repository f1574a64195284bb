import type { Issue } from '../issue/issue.ts';
import type { Role } from '../run/role.ts';
import { hasPipeline, type PhaseRecord, type PipelineSettings, phaseOf, readyPhase } from './phase.ts';
import { phaseByLabels } from './phase-labels.ts';

/** What the next run of an issue is for, as far as the pipeline says. */
export type PhaseWork =
  /** Null: there is no pipeline. */
  | { readonly role: 'worker'; readonly phase: typeof readyPhase | null }
  /** It is split first. */
  | { readonly role: 'planner'; readonly phase: null }
  | { readonly role: 'phase'; readonly phase: string }
  | { readonly role: 'phase_judge'; readonly phase: string; readonly claimId: string }
  | { readonly role: null; readonly phase: string; readonly why: 'claim_pending' | 'phase_unknown' };

/** A completion claim that is not decided yet. */
export interface OpenCompletion {
  readonly id: string;
  readonly phase: string;
  readonly state: 'pending' | 'judging';
}

export function phaseWork(
  { labels }: Pick<Issue, 'labels'>,
  record: Pick<PhaseRecord, 'phase'> | null,
  open: OpenCompletion | null,
  pipeline: PipelineSettings,
): PhaseWork {
  if (!hasPipeline(pipeline)) return { role: 'worker', phase: null };
  const phase = record?.phase ?? phaseByLabels(labels, pipeline);
  if (open !== null && open.phase === phase)
    return open.state === 'judging'
      ? { role: 'phase_judge', phase, claimId: open.id }
      : { role: null, phase, why: 'claim_pending' };
  if (phase === readyPhase) return { role: 'worker', phase };
  return phaseOf(pipeline, phase) === null ? { role: null, phase, why: 'phase_unknown' } : { role: 'phase', phase };
}

/** The agent of a run of this phase; null: the rules for the issue choose. */
export function agentOfPhase(
  { role, phase }: { readonly role: Role; readonly phase: string | null },
  pipeline: PipelineSettings,
  judges: readonly string[],
): string | null {
  const own = phase === null ? null : phaseOf(pipeline, phase);
  if (role === 'phase') return own?.agent ?? null;
  return role === 'phase_judge' ? (own?.judge ?? judges[0] ?? null) : null;
}
