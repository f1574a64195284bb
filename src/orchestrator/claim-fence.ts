import type { Clock } from '../clock/clock.ts';
import type { Claim, ClaimHolder } from '../store/claims.ts';
import type { IssueKey } from '../store/issue-key.ts';
import type { Store, StoreTables } from '../store/store.ts';

export interface ClaimFenceParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly project: string;
  readonly owner: string;
  readonly host: string;
  /** The generations of our claims, as the store has them. */
  readonly generations: Map<string, number>;
}

/** Who we are to the store, and the fence around everything that is written about a claimed issue (law 4). */
export class ClaimFence {
  readonly #parts: ClaimFenceParts;

  constructor(parts: ClaimFenceParts) {
    this.#parts = parts;
  }

  key(issueId: string): IssueKey {
    return { project: this.#parts.project, issueId };
  }

  holder(issueId: string): ClaimHolder {
    return { owner: this.#parts.owner, generation: this.#parts.generations.get(issueId) ?? 0 };
  }

  /** Takes a claim that is free, over, or our own from an earlier life. */
  take(tables: StoreTables, issueId: string, leaseMs: number, slotState: string | null): Promise<Claim | null> {
    const { owner, host, clock } = this.#parts;
    const wish = { owner, host, at: clock.now(), leaseMs, slotState, reclaim: true };
    return tables.claims.take(this.key(issueId), wish);
  }

  /** Does the work in one transaction if the claim is still ours, and only then. */
  write(
    issueId: string,
    work: (tables: StoreTables, key: IssueKey, holder: ClaimHolder) => Promise<void>,
  ): Promise<boolean> {
    const [key, holder] = [this.key(issueId), this.holder(issueId)];
    return this.#parts.store.transaction(async (tables) => {
      if (!(await tables.claims.verify(key, holder))) return false;
      await work(tables, key, holder);
      return true;
    });
  }
}
