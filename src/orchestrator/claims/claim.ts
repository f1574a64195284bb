import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import type { Slot } from '../../core/dispatch/slots.ts';
import type { Issue } from '../../core/issue/issue.ts';
import type { RecoveryStep } from '../../core/run/context-recovery.ts';
import { type Role, roleOf } from '../../core/run/role.ts';
import type { RetryKind } from '../../core/workflow.ts';
import type { Claim as ClaimRow } from '../../store/tables/claims.ts';
import type { RunState } from '../runs/run-state.ts';
import type { IssueCounts } from './issue-counters.ts';

/** What Baton knows about an issue without reading the tracker. */
export interface IssueName {
  readonly id: string;
  readonly identifier: string;
  readonly url?: string | null;
}

export interface HoldReason {
  /** For programs: an error code, or `person`. */
  readonly code: string;
  readonly reason: string;
}

export interface Hold extends HoldReason {
  readonly issue: IssueName;
  /** Of the run that led to it; absent: a worker's. */
  readonly role?: Role;
  readonly since: number;
  readonly runId: string | null;
}

/** The promise to try an issue again, as in the store, with everything that the next run needs. */
export interface Retry {
  readonly issue: IssueName;
  /** Of the next run; absent: a worker's. */
  readonly role?: Role;
  readonly kind: RetryKind;
  /**
   * The attempt in the prompt: 1 for a continuation, the failures in a row after a failure, unchanged after an
   * interruption.
   */
  readonly attempt: number | null;
  readonly failures: number;
  readonly staleRuns: number;
  /** What the next run does differently because the last one used up its context. */
  readonly recovery: RecoveryStep | null;
  /** The agent that a person chose for the next run; null: the rules choose. */
  readonly agent: string | null;
  readonly error: string | null;
  /** Wall time. */
  readonly dueAt: number;
}

/** The reservation of one issue. An issue without a claim is free. */
export type Claim = Running | Retrying | Held | Inheriting;

interface Fenced {
  /**
   * The generation of our claim in the store. Null: the store has no claim of ours, because the start of the run is
   * being written, or because the claim was lost.
   */
  readonly generation: number | null;
}

/** A run is in progress, or its start is being written. The object stays the same until the run has ended. */
export interface Running extends RunState, Fenced {
  readonly status: 'running';
  /** As last read from the tracker; slots are counted by its state. */
  readonly issue: Issue;
  /** The state that the start moves the issue to, until it has moved: the slot is taken in that state. */
  readonly movesTo: string | null;
  /** The counts of the issue before this run; null until its start is written. */
  readonly before: IssueCounts | null;
  /** The issue is held when this run has ended, whatever its outcome. */
  readonly holdAfterwards: HoldReason | null;
}

/** The issue is tried again at `wakeAt`. Each delay replaces the object with a new one. */
export interface Retrying extends Retry, Fenced {
  readonly status: 'retrying';
  /** On the monotonic clock. */
  readonly wakeAt: number;
  /** Why a retry that was due could not start; null before it is due. */
  readonly wait: SkipReason | null;
  /** How often it found no slot. This raises neither the attempt nor the delay. */
  readonly slotWaits: number;
  /** How often in a row the tracker did not answer. */
  readonly failedReads: number;
}

/** A person has to decide. */
export interface Held extends Hold, Fenced {
  readonly status: 'held';
}

/** A dead daemon had the issue. Its agent may be alive until inheriting is finished, so the issue takes a slot. */
export interface Inheriting extends Fenced {
  readonly status: 'inheriting';
  readonly issueId: string;
}

export interface ForeignClaim {
  readonly issueId: string;
  readonly host: string | null;
  /** Null when it takes none. */
  readonly slot: Slot | null;
}

export interface ClaimChange {
  readonly issueId: string;
  /** Null: the issue was free. */
  readonly before: Claim | null;
  /** Null: the issue is free. */
  readonly after: Claim | null;
  readonly by: ClaimOperation;
}

export type ClaimOperation =
  /** A run takes its slot; its start is being written. */
  | 'begin'
  | 'begun'
  | 'not_begun'
  | 'settle'
  | 'hold'
  | 'release'
  | 'retry'
  | 'postpone'
  | 'inherit'
  | 'lose'
  | 'reload'
  /** The tracker has it in another state. */
  | 'refresh'
  /** Baton moved it because work begins on it. */
  | 'move';

/** The slot of an issue that is being inherited: its earlier agent may be alive, and its state is unknown. */
const beingInherited = 'being_inherited';

/** The slot that a claim takes; null when it takes none. */
export function slotOf(claim: Claim): Slot | null {
  if (claim.status === 'running') return { state: claim.movesTo ?? claim.issue.state, role: claim.role };
  if (claim.status === 'inheriting') return { state: beingInherited, role: 'worker' };
  return claim.status === 'held' ? slotOfHold(claim) : null;
}

/** An agent that could not be ended may be alive. It takes a slot until a person confirms that it is gone. */
export function slotOfHold({ code, role }: Pick<Hold, 'code' | 'role'>): Slot | null {
  return code === 'agent_survives' ? { state: code, role: roleOf(role) } : null;
}

/** The slot of a stored claim. */
export function storedSlot({ slotState, slotRole }: Pick<ClaimRow, 'slotState' | 'slotRole'>): Slot | null {
  return slotState === null ? null : { state: slotState, role: roleOf(slotRole) };
}
