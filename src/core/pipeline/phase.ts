/*
 * The phases of an issue before the work itself: an issue that enters the pipeline goes through them in their order, and
 * each phase ends with an artifact that its contract accepts. What must hold:
 *
 * - An issue is in exactly one phase. The store has it; labels in the tracker only mirror it (`phase-labels.ts`).
 * - A phase only ends by a completion claim that counts, by a person, or because it is skipped.
 * - The last phase is always `ready`: there a worker implements the issue, as without a pipeline.
 */

/** The last phase, in which the work itself is done. It is in no list of phases. */
export const readyPhase = 'ready';

/** The largest artifact, in bytes. A longer one does not fit into the prompts of later phases. */
export const mostArtifactBytes = 256 * 1_024;

export const validations = ['structural', 'judge', 'trust'] as const;
/**
 * `structural`: an artifact that keeps its contract ends the phase. `judge`: a judge also has to approve it. `trust`: what
 * the contract misses is only a warning.
 */
export type Validation = (typeof validations)[number];

/** One phase of `pipeline.phases`. */
export interface Phase {
  readonly name: string;
  /** What its agent is called on screens. */
  readonly role: string;
  /** The name of its agent; null: the rules choose. */
  readonly agent: string | null;
  /** A template; null: the built-in prompt. */
  readonly prompt: string | null;
  /** In the workspace, relative to it. */
  readonly artifact: string;
  readonly requiredSections: readonly string[];
  /** In bytes. */
  readonly maxBytes: number;
  /** A JSON schema for an artifact that is JSON; null: it is Markdown. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly validation: Validation;
  /** The agent that judges its artifact; null: the first of `judge.agents`, or the default agent. */
  readonly judge: string | null;
  /** The template of that judge; null: the built-in prompt. */
  readonly judgePrompt: string | null;
  /** Whether its agent may name a later phase that the issue goes to instead of the next one. */
  readonly maySkip: boolean;
  /** How many turns a run of this phase has. */
  readonly maxTurns: number;
}

/** Where an issue stands in the pipeline. */
export interface PhaseRecord {
  readonly phase: string;
  readonly since: number;
  /** How often the artifact of this phase was sent back. */
  readonly revisions: number;
  /** Since when the artifact waits for a revision; null: it does not. */
  readonly revisionSince: number | null;
  /** The phases that were skipped. */
  readonly skipped: readonly string[];
  /** The labels of the pipeline that Baton last wrote to the tracker; null: it has written none. */
  readonly mirrored: readonly string[] | null;
  /** The time of the issue in its tracker after that write: an older reading says nothing about it. */
  readonly mirroredAt: number | null;
  /** The labels that a daemon began to write, until it knows that they arrived; null: none. */
  readonly mirroring: LabelWrite | null;
}

export interface LabelWrite {
  readonly labels: readonly string[];
  /** The owner that the daemon is known by. */
  readonly by: string;
  readonly at: number;
}

/** Of an issue that enters the pipeline, or that a person moved. */
export function newPhaseRecord(phase: string, now: number): PhaseRecord {
  const mirror = { mirrored: null, mirroredAt: null, mirroring: null };
  return { phase, since: now, revisions: 0, revisionSince: null, skipped: [], ...mirror };
}

export interface PipelineSettings {
  readonly phases: readonly Phase[];
  /** Where an issue without a phase begins; null: in the first phase. */
  readonly entry: string | null;
  readonly maxRevisions: number;
  readonly revisionExpiryMs: number;
  readonly commitArtifacts: boolean;
}

export function hasPipeline({ phases }: Pick<PipelineSettings, 'phases'>): boolean {
  return phases.length > 0;
}

/** The names of all phases in their order, `ready` last. */
export function phaseNames({ phases }: Pick<PipelineSettings, 'phases'>): readonly string[] {
  return [...phases.map(({ name }) => name), readyPhase];
}

/** Where an issue begins that has no phase yet. */
export function entryPhase({ phases, entry }: Pick<PipelineSettings, 'phases' | 'entry'>): string {
  return entry ?? phases[0]?.name ?? readyPhase;
}

/** The settings of a phase; null for `ready`, and for a phase that the file does not have any more. */
export function phaseOf({ phases }: Pick<PipelineSettings, 'phases'>, name: string): Phase | null {
  return phases.find((phase) => phase.name === name) ?? null;
}

/** The phases that come after this one; none after `ready`, and none after a phase that is not in the list. */
export function laterPhases(pipeline: Pick<PipelineSettings, 'phases'>, name: string): readonly string[] {
  const names = phaseNames(pipeline);
  const at = names.indexOf(name);
  return at === -1 ? [] : names.slice(at + 1);
}

/** The phase after this one, and what is skipped on the way: up to `skipTo`, and what a person marked to be skipped. */
export function nextPhase(
  pipeline: Pick<PipelineSettings, 'phases'>,
  name: string,
  { skipTo, marked }: { readonly skipTo: string | null; readonly marked: readonly string[] },
): { readonly phase: string; readonly skipped: readonly string[] } {
  const later = laterPhases(pipeline, name);
  const from = skipTo === null ? 0 : Math.max(0, later.indexOf(skipTo));
  const found = later.findIndex((each, at) => at >= from && (each === readyPhase || !marked.includes(each)));
  const at = found === -1 ? later.length : found;
  return { phase: later[at] ?? readyPhase, skipped: later.slice(0, at) };
}
