import type { SkipReason } from '../core/eligibility.ts';
import type { Settings } from '../core/settings.ts';
import type { StoredQuestion } from '../store/questions.ts';
import type { RunRecord, RunStart } from '../store/runs.ts';
import type { StoreTables } from '../store/store.ts';
import type { HeldEntry, IssueCounts } from './scheduling-state.ts';

/** A run that is to begin. */
export interface RunWish {
  readonly record: Omit<RunStart, 'generation' | 'project' | 'host' | 'account'>;
  /** Why it may use no account just now, by what the store knows of them. */
  readonly whyNoAccount: (tables: StoreTables) => Promise<SkipReason | null>;
  /** Takes the account it uses, given the run of this issue before it. */
  readonly takeAccount: (tables: StoreTables, last: RunRecord | null) => Promise<string | null>;
  /** What a person wants its agent to know. */
  readonly note: string | null;
  /** The state whose slot the run takes. */
  readonly slotState: string;
  readonly settings: Settings;
}

/** What the store says to it. */
export type RunAnswer =
  | {
      readonly isBegun: true;
      readonly generation: number;
      readonly before: IssueCounts;
      /** The run of this issue before this one. */
      readonly last: RunRecord | null;
      /** Those before it too, the newest first. */
      readonly earlier: readonly RunRecord[];
      readonly account: string | null;
      /** What people want its agent to know: of now, and what the run before it could not tell. */
      readonly note: string | null;
      /** What people answered to earlier runs, and no run has been told. */
      readonly answers: readonly StoredQuestion[];
      /** What they answered and earlier runs were told, the oldest first. */
      readonly answersBefore: readonly StoredQuestion[];
    }
  | { readonly isBegun: false; readonly refusal: SkipReason; readonly held: HeldEntry | null };

/** A note that no agent was told, and one of now: each is told once. */
export function bothNotes(earlier: string | null, now: string | null): string | null {
  const notes = new Set([earlier, now].filter((note) => note !== null));
  return notes.size === 0 ? null : [...notes].join('\n\n');
}
