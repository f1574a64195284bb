import * as z from 'zod';
import { phaseWaits } from '../../core/pipeline/phase-standing.ts';
import { author, count, issueName, text, textOrNone, time, timeOrNone } from './common.ts';

/** Where an issue stands in the pipeline, as rows show it. */
export const phaseOfRow = z.object({
  name: text,
  /** From 1: one more than how often the artifact of this phase was sent back. */
  round: count,
  waits_for: z.enum(phaseWaits),
});

const phase = z.object({
  name: text,
  /** What its agent is called on screens. */
  role: text,
  /** Null: the rules for the issue choose. */
  agent: textOrNone,
  artifact: text,
  required_sections: z.array(text),
  max_bytes: count,
  has_schema: z.boolean(),
  validation: z.enum(['structural', 'judge', 'trust']),
  /** The agent that judges its artifact; null: none does. */
  judge: textOrNone,
  may_skip: z.boolean(),
  max_turns: count,
});

const pipelineIssue = issueName.extend({
  title: text,
  state: text,
  phase: text,
  since: time,
  revisions: count,
  needs_revision: z.boolean(),
  waits_for: z.enum(phaseWaits),
});

/** The pipeline and the issues in it. `ready`, the last phase, is not in `phases`. */
export const pipeline = z.object({
  phases: z.array(phase),
  entry: text,
  max_revisions: count,
  revision_expiry_ms: count,
  /** How many runs an issue costs; `most` without judges, as `limit` counts. Null: no limit. */
  runs: z.object({ usual: count, most: count, limit: count.nullable() }),
  /** Issues that are not finished, by phase in their order, the longest in its phase first. */
  issues: z.array(pipelineIssue),
  /** There are more issues than the list has. */
  is_cut: z.boolean(),
});

export const artifactVersion = z.object({ phase: text, version: count, author, at: time, bytes: count });

const opinion = z.object({
  verdict: z.enum(['approved', 'rejected']),
  summary: text,
  findings: z.array(z.object({ severity: text, problem: text, wanted: text })),
});

/** An agent's statement that a phase is finished, and what followed. */
export const completionClaim = z.object({
  id: text,
  phase: text,
  /** Null: a person decided without one. */
  run_id: textOrNone,
  version: count.nullable(),
  summary: text,
  skip_to: textOrNone,
  at: time,
  state: z.enum(['pending', 'judging', 'advanced', 'revise', 'person', 'replaced', 'withdrawn']),
  /** Why it did not count, or the warnings with which it did. */
  reasons: z.array(text),
  opinion: opinion.nullable(),
  judged_by: author.nullable(),
  decided_at: timeOrNone,
});

export const issuePipeline = z.object({
  phase: text,
  since: time,
  revisions: count,
  needs_revision: z.boolean(),
  skipped: z.array(text),
  waits_for: z.enum(phaseWaits),
  /** All phases, `ready` last. */
  steps: z.array(z.object({ phase: text, status: z.enum(['done', 'current', 'skipped', 'coming']) })),
  /** The newest first. */
  claims: z.array(completionClaim),
  /** All versions of all artifacts, the newest first. */
  artifacts: z.array(artifactVersion),
  /** The commands that apply now: `phase_approve`, `phase_reject`, `phase_move`, `artifact_put`. */
  actions: z.array(text),
});

export const issuePipelineAnswer = z.object({ ...issueName.shape, pipeline: issuePipeline.nullable() });
export const artifact = artifactVersion.extend({ text });

export type Pipeline = z.output<typeof pipeline>;
export type IssuePipeline = z.output<typeof issuePipeline>;
export type CompletionClaim = z.output<typeof completionClaim>;
export type ArtifactVersion = z.output<typeof artifactVersion>;
export type Artifact = z.output<typeof artifact>;
export type PhaseOfRow = z.output<typeof phaseOfRow>;
