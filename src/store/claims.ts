import type { IssueKey } from './issue-key.ts';

/**
 * Reservations of issues with fencing: the generation of an issue only grows, also over releases, so whoever writes about
 * a run shows the generation it was started with and an old one is refused.
 */
export interface Claims {
  /** Takes a free or expired claim for `owner` and raises its generation; null while it is held, by whomever. */
  take(
    key: IssueKey,
    claim: { readonly owner: string; readonly at: number; readonly leaseMs: number },
  ): Promise<Claim | null>;
  /** Extends the lease while owner and generation still hold; false when they do not. */
  renew(key: IssueKey, holder: ClaimHolder, until: { readonly at: number; readonly leaseMs: number }): Promise<boolean>;
  /** Gives it back while owner and generation still hold; false when they do not. */
  release(key: IssueKey, holder: ClaimHolder): Promise<boolean>;
  /** All that are held, expired ones included. */
  held(project: string): Promise<readonly Claim[]>;
  read(key: IssueKey): Promise<Claim | null>;
}

export interface ClaimHolder {
  readonly owner: string;
  readonly generation: number;
}

export interface Claim extends ClaimHolder, IssueKey {
  readonly claimedAt: number;
  readonly leaseUntil: number;
}
