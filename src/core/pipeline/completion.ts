import type { Opinion } from '../pull/judge.ts';
import { missingSections } from './artifact-sections.ts';
import { laterPhases, nextPhase, type Phase, type PhaseRecord, type PipelineSettings, phaseOf } from './phase.ts';

/** An agent's statement that a phase is finished, with its evidence as it was at that moment. */
export interface CompletionClaim {
  readonly id: string;
  readonly phase: string;
  /** Null: a person's. */
  readonly runId: string | null;
  /** As the agent named it, relative to the workspace. */
  readonly path: string;
  /** The version of the artifact that it is about; null: there was no such file, or it could not be taken. */
  readonly version: number | null;
  readonly summary: string;
  readonly skipTo: string | null;
  readonly at: number;
}

/**
 * `pending`: nothing has followed from it yet. `judging`: it waits for the verdict of a judge. All others are final:
 * `replaced` by a later claim of the same phase, or `withdrawn` because the issue left the phase.
 */
export type ClaimState = 'pending' | 'judging' | 'advanced' | 'revise' | 'person' | 'replaced' | 'withdrawn';

/** Why a completion claim does not count, in the order in which it is examined (seed 4, Precondition Checks). */
export type Shortcoming =
  | { readonly code: 'wrong_phase'; readonly phase: string }
  | { readonly code: 'no_artifact'; readonly path: string; readonly why: string }
  | { readonly code: 'artifact_too_large'; readonly bytes: number; readonly limit: number }
  | { readonly code: 'missing_sections'; readonly sections: readonly string[] }
  | { readonly code: 'wrong_schema'; readonly why: string }
  | { readonly code: 'skip_refused'; readonly skipTo: string; readonly allowed: readonly string[] };

/** The artifact of a claim as it was read; the reason where there is none. */
export type TakenArtifact = { readonly text: string } | { readonly why: string } | { readonly bytes: number };

/** What an agent says when it completes its phase, with the file as it was then. */
export interface CompletionRequest {
  readonly path: string;
  readonly artifact: TakenArtifact;
  /** Why the artifact does not match the schema of its phase; null: it does, or there is none. */
  readonly schemaProblem: string | null;
  readonly summary: string;
  readonly skipTo: string | null;
}

/** Why a text does not match a JSON schema; null: it does. */
export type SchemaProblem = (schema: Readonly<Record<string, unknown>>, text: string) => string | null;

export interface Contract {
  readonly pipeline: Pick<PipelineSettings, 'phases'>;
  /** The phase that the issue is in. */
  readonly current: string;
  /** As in the request. */
  readonly schemaProblem: string | null;
}

/** What is wrong with a completion claim; nothing: it counts. A later condition is only examined when the earlier hold. */
export function shortcomings(
  claim: Pick<CompletionClaim, 'phase' | 'path' | 'skipTo'>,
  artifact: TakenArtifact,
  { pipeline, current, schemaProblem }: Contract,
): readonly Shortcoming[] {
  const phase = phaseOf(pipeline, claim.phase);
  if (claim.phase !== current || phase === null) return [{ code: 'wrong_phase', phase: current }];
  if ('why' in artifact) return [{ code: 'no_artifact', path: claim.path, why: artifact.why }];
  if ('bytes' in artifact) return [{ code: 'artifact_too_large', bytes: artifact.bytes, limit: phase.maxBytes }];
  const found = contentShortcomings(artifact.text, phase, schemaProblem);
  if (found.length > 0) return found;
  const allowed = phase.maySkip ? laterPhases(pipeline, phase.name) : [];
  if (claim.skipTo !== null && !allowed.includes(claim.skipTo))
    return [{ code: 'skip_refused', skipTo: claim.skipTo, allowed }];
  return [];
}

/** What an artifact itself lacks, for the version of an agent or of a person. */
export function contentShortcomings(
  text: string,
  { requiredSections }: Pick<Phase, 'requiredSections'>,
  schemaProblem: string | null,
): readonly Shortcoming[] {
  const sections = missingSections(text, requiredSections);
  if (sections.length > 0) return [{ code: 'missing_sections', sections }];
  return schemaProblem === null ? [] : [{ code: 'wrong_schema', why: schemaProblem }];
}

/** For the agent that has to fix it, and for people. */
export function shortcomingText(shortcoming: Shortcoming): string {
  switch (shortcoming.code) {
    case 'wrong_phase':
      return `The issue is in the phase "${shortcoming.phase}" now.`;
    case 'no_artifact':
      return `Baton could not read the file ${shortcoming.path}: ${shortcoming.why}.`;
    case 'artifact_too_large':
      return `The artifact has ${shortcoming.bytes} bytes; at most ${shortcoming.limit} are allowed.`;
    case 'missing_sections':
      return `The artifact lacks these sections, each a heading with text below it: ${shortcoming.sections.join(', ')}.`;
    case 'wrong_schema':
      return `The artifact does not match the schema of its phase: ${shortcoming.why}.`;
    case 'skip_refused':
      return shortcoming.allowed.length === 0
        ? `This phase may not skip others, so skip_to "${shortcoming.skipTo}" is refused.`
        : `skip_to "${shortcoming.skipTo}" is refused. It must be a later phase: ${shortcoming.allowed.join(', ')}.`;
  }
}

/** What follows from a completion claim. */
export type Transition =
  | {
      readonly to: 'advance';
      readonly phase: string;
      readonly skipped: readonly string[];
      readonly warnings: readonly string[];
    }
  | { readonly to: 'judge'; readonly warnings: readonly string[] }
  | { readonly to: 'revise'; readonly reasons: readonly string[] }
  /** It was revised too often: a person decides. */
  | { readonly to: 'person'; readonly reasons: readonly string[] }
  /** The issue left the phase meanwhile: the claim is about nothing any more. */
  | { readonly to: 'nothing'; readonly reasons: readonly string[] };

export interface DecidedClaim {
  readonly claim: Pick<CompletionClaim, 'phase' | 'skipTo'>;
  readonly found: readonly Shortcoming[];
  readonly record: Pick<PhaseRecord, 'phase' | 'revisions'>;
  /** The phases that a person marked to be skipped. */
  readonly marked: readonly string[];
  /** Of the judge, or of the person in its place; null: none yet. */
  readonly opinion: Opinion | null;
}

/**
 * | claim | validation | follows |
 * |---|---|---|
 * | of another phase than the issue is in | any | nothing |
 * | that falls short | structural, judge | a revision, while `pipeline.max_revisions` allows one; then a person decides |
 * | that falls short | trust | the next phase, with warnings; a refused `skip_to` is left out |
 * | that keeps its contract | structural, trust | the next phase, or the one of `skip_to` |
 * | that keeps its contract | judge, no verdict | a judge |
 * | … approved | judge | the next phase, or the one of `skip_to` |
 * | … rejected | judge | a revision, with the findings, as above |
 */
export function decideTransition(
  { claim, found, record, marked, opinion }: DecidedClaim,
  pipeline: PipelineSettings,
): Transition {
  const reasons = found.map(shortcomingText);
  const phase = phaseOf(pipeline, claim.phase);
  if (phase === null || claim.phase !== record.phase) return { to: 'nothing', reasons };
  const isTrusted = phase.validation === 'trust';
  if (found.length > 0 && !isTrusted) return revise(reasons, record, pipeline);
  if (opinion?.verdict === 'rejected') return revise(opinionTexts(opinion), record, pipeline);
  if (phase.validation === 'judge' && opinion === null) return { to: 'judge', warnings: reasons };
  const isRefused = found.some(({ code }) => code === 'skip_refused');
  const next = nextPhase(pipeline, claim.phase, { skipTo: isRefused ? null : claim.skipTo, marked });
  return { to: 'advance', ...next, warnings: reasons };
}

function revise(
  reasons: readonly string[],
  { revisions }: Pick<PhaseRecord, 'revisions'>,
  { maxRevisions }: Pick<PipelineSettings, 'maxRevisions'>,
): Transition {
  return { to: revisions < maxRevisions ? 'revise' : 'person', reasons };
}

/** The words of a judge for the agent that has to fix the artifact. */
function opinionTexts({ summary, findings }: Opinion): readonly string[] {
  return [
    summary,
    ...findings.map(({ severity, problem, wanted }) => `${problem} (${severity}) What would satisfy: ${wanted}`),
  ];
}
