import type { IssueKey } from '../issue-key.ts';

/**
 * Reservations of issues with fencing: the generation of an issue only grows, also over releases and restores, so whoever
 * writes about a run shows the generation it was started with and an old one is refused.
 *
 * A lease that is over takes nothing away by itself: its claim may be taken by others from then on, and until somebody
 * does, its holder still has it.
 */
export interface Claims {
  /**
   * Takes a free or expired claim for `owner` and raises its generation; null while somebody else holds it. With
   * `reclaim` also one that the owner itself holds, from an earlier life.
   */
  take(key: IssueKey, claim: ClaimWish): Promise<Claim | null>;
  /**
   * Extends every claim that `owner` holds in the project and gives them, the earliest first. What is missing in the
   * answer, or has another generation there, is lost.
   */
  renewAll(
    project: string,
    owner: string,
    until: { readonly at: number; readonly leaseMs: number },
  ): Promise<readonly Claim[]>;
  /**
   * Inside a transaction only: true while owner and generation hold, and then nobody can take, change or release the
   * claim before the transaction ends.
   */
  verify(key: IssueKey, holder: ClaimHolder): Promise<boolean>;
  /** Which slot the claim takes from now on, null for none; false when owner and generation do not hold. */
  setSlot(key: IssueKey, holder: ClaimHolder, slotState: string | null): Promise<boolean>;
  /** Gives it back, its slot included, while owner and generation still hold; false when they do not. */
  release(key: IssueKey, holder: ClaimHolder): Promise<boolean>;
  /** All that are held, expired ones included, the earliest first. */
  held(project: string, at: number): Promise<readonly HeldClaim[]>;
  read(key: IssueKey): Promise<Claim | null>;
  /** The generation of an issue, whether anybody holds it or not; 0 when it was never claimed. */
  generation(key: IssueKey): Promise<number>;
}

export interface ClaimWish {
  readonly owner: string;
  /** Where the owner runs, for people. */
  readonly host: string;
  readonly at: number;
  readonly leaseMs: number;
  readonly slotState: string | null;
  readonly reclaim?: boolean;
}

export interface ClaimHolder {
  readonly owner: string;
  readonly generation: number;
}

export interface Claim extends ClaimHolder, IssueKey {
  /** Null for a claim of a Baton that did not write it down yet. */
  readonly host: string | null;
  /** The tracker state whose slot it takes; null when it takes none: it is retrying or held. */
  readonly slotState: string | null;
  readonly claimedAt: number;
  readonly leaseUntil: number;
}

export interface HeldClaim extends Claim {
  /** Its lease is over, by the clock that leases are measured with. */
  readonly isExpired: boolean;
}
