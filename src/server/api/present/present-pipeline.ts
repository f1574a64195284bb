import type { ArtifactVersion, CompletionClaim, IssuePipeline, PhaseOfRow } from '../../../client/schema/pipeline.ts';
import type { PhaseRecord, PipelineSettings } from '../../../core/pipeline/phase.ts';
import {
  type PhaseStanding,
  type PhaseSurroundings,
  phaseSteps,
  phaseWait,
} from '../../../core/pipeline/phase-standing.ts';
import type { OpenCompletion } from '../../../core/pipeline/phase-work.ts';
import { certainTime, timeText } from '../../../core/text/time-text.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import type { ArtifactVersion as StoredVersion } from '../../../store/tables/pipeline/artifacts.ts';
import type { StoredCompletion } from '../../../store/tables/pipeline/completion-claims.ts';
import { presentAuthor } from './present-command.ts';

/** What the model says about an issue apart from its phase. */
export function surroundingsIn(model: ReadModel): (issueId: string) => PhaseSurroundings {
  const roles = new Map(model.running.map(({ issue, role }) => [issue.id, role]));
  const waiting = new Set([...model.held, ...model.questions].map(({ issue }) => issue.id));
  return (id) => ({
    role: roles.get(id) ?? null,
    needsPerson: waiting.has(id),
    isInReview: model.pulls.has(id),
  });
}

/** Where each issue stands in the pipeline, for rows; nothing for issues that are not in it. */
export function phasesOfRows(model: ReadModel): (issueId: string) => { readonly phase?: PhaseOfRow } {
  const surroundings = surroundingsIn(model);
  return (id) => {
    const known = model.phases.get(id);
    return known === undefined ? {} : { phase: phaseOfRow(known, surroundings(id)) };
  };
}

export function phaseOfRow({ record, open }: PhaseStanding, around: PhaseSurroundings): PhaseOfRow {
  return { name: record.phase, round: record.revisions + 1, waits_for: phaseWait(record, open, around) };
}

interface Standing {
  readonly record: PhaseRecord;
  readonly claims: readonly StoredCompletion[];
  readonly versions: readonly StoredVersion[];
}

export function presentIssuePipeline(
  { record, claims, versions }: Standing,
  pipeline: PipelineSettings,
  around: PhaseSurroundings,
): IssuePipeline {
  const { phase, since, revisions, revisionSince, skipped } = record;
  const open = openIn(claims);
  const hasArtifact = versions.some((each) => each.phase === phase);
  const isUndecided = hasArtifact && (open !== null || around.role !== 'phase');
  return {
    phase,
    since: certainTime(since),
    revisions,
    needs_revision: revisionSince !== null,
    skipped: [...skipped],
    waits_for: phaseWait(record, open, around),
    steps: phaseSteps(record, pipeline).map((step) => ({ ...step })),
    claims: claims.map(presentClaim),
    artifacts: versions.map(presentVersion),
    actions: [
      ...(hasArtifact ? ['phase_approve'] : []),
      ...(isUndecided ? ['phase_reject'] : []),
      ...['phase_move', 'artifact_put'],
    ],
  };
}

/** The claim that is not decided yet. */
export function openIn(claims: readonly StoredCompletion[]): OpenCompletion | null {
  for (const { id, phase, state } of claims)
    if (state === 'pending' || state === 'judging') return { id, phase, state };
  return null;
}

function presentClaim(claim: StoredCompletion): CompletionClaim {
  const { id, phase, runId, version, summary, skipTo, at, state, reasons, opinion, judgedBy, decidedAt } = claim;
  return {
    id,
    phase,
    run_id: runId,
    version,
    summary,
    skip_to: skipTo,
    at: certainTime(at),
    state,
    reasons: [...reasons],
    opinion:
      opinion === null
        ? null
        : {
            verdict: opinion.verdict,
            summary: opinion.summary,
            findings: opinion.findings.map(({ severity, problem, wanted }) => ({ severity, problem, wanted })),
          },
    judged_by: judgedBy === null ? null : presentAuthor(judgedBy),
    decided_at: timeText(decidedAt),
  };
}

export function presentVersion({ phase, version, author, at, size }: StoredVersion): ArtifactVersion {
  return { phase, version, author: presentAuthor(author), at: certainTime(at), bytes: size };
}
