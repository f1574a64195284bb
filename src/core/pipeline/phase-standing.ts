import type { Role } from '../run/role.ts';
import { type PhaseRecord, type PipelineSettings, phaseNames, readyPhase } from './phase.ts';
import type { OpenCompletion } from './phase-work.ts';

/** Who or what an issue of the pipeline waits for. `decision`: a completion claim that is being decided. */
export const phaseWaits = ['agent', 'judge', 'decision', 'worker', 'review', 'person'] as const;
export type PhaseWait = (typeof phaseWaits)[number];

/** Where an issue stands in the pipeline. */
export interface PhaseStanding {
  readonly record: PhaseRecord;
  /** A completion claim that is not decided yet. */
  readonly open: OpenCompletion | null;
}

/** What else is known of the issue. */
export interface PhaseSurroundings {
  /** Of its run in progress; null: there is none. */
  readonly role: Role | null;
  /** It is on hold, or its agent asks a person. */
  readonly needsPerson: boolean;
  /** Its change is under review. */
  readonly isInReview: boolean;
}

export function phaseWait(
  { phase }: Pick<PhaseRecord, 'phase'>,
  open: Pick<OpenCompletion, 'phase' | 'state'> | null,
  { role, needsPerson, isInReview }: PhaseSurroundings,
): PhaseWait {
  if (needsPerson) return 'person';
  if (role === 'phase') return 'agent';
  if (role === 'phase_judge') return 'judge';
  if (role === 'judge') return 'review';
  if (role === null && open?.phase === phase) return open.state === 'judging' ? 'judge' : 'decision';
  if (phase !== readyPhase) return 'agent';
  return isInReview && role === null ? 'review' : 'worker';
}

export const waitWords: Readonly<Record<PhaseWait, string>> = {
  agent: 'waits for its agent',
  judge: 'waits for a judge',
  decision: 'Baton decides what follows its phase',
  worker: 'waits for its worker',
  review: 'its change is in review',
  person: 'waits for you',
};

/** As `waitWords`, for one issue with what happens next; null while its agent works, and in a state without agents. */
export function waitText(waits: PhaseWait, next: string | undefined): string | null {
  return next === 'run_continues' || next === 'needs_change' ? null : waitWords[waits];
}

/** For a line of a list: the phase, and the round if it is not the first. */
export function phaseWords({ name, round }: { readonly name: string; readonly round: number }): string {
  return round > 1 ? `${name}, round ${round}` : name;
}

export type StepStatus = 'done' | 'current' | 'skipped' | 'coming';

/** The phases as steps of one issue. An earlier phase is done, unless it was skipped. */
export function phaseSteps(
  { phase, skipped }: Pick<PhaseRecord, 'phase' | 'skipped'>,
  pipeline: Pick<PipelineSettings, 'phases'>,
): readonly { readonly phase: string; readonly status: StepStatus }[] {
  const names = phaseNames(pipeline);
  const at = names.indexOf(phase);
  return names.map((name, place) => {
    if (name === phase) return { phase: name, status: 'current' };
    if (skipped.includes(name)) return { phase: name, status: 'skipped' };
    return { phase: name, status: place < at ? 'done' : 'coming' };
  });
}
