import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import type { Slot } from '../../core/dispatch/slots.ts';
import { type Role, roleOf } from '../../core/run/role.ts';
import { timeToSecond } from '../../core/text/time-text.ts';
import {
  type Claim,
  type ClaimChange,
  type ClaimOperation,
  type ForeignClaim,
  type Held,
  type Retrying,
  type Running,
  slotOf,
} from './claim.ts';

/** The answer of an operation and the claim it leaves: null for none, undefined when nothing changed. */
interface Done<T> {
  readonly answer: T;
  readonly claim?: Claim | null;
  readonly by?: ClaimOperation;
}

/**
 * The claims of this daemon in memory, readable by every part. An issue has one claim or none. Only `Claims` changes
 * them: one operation on an issue at a time, and one published change for each new value.
 */
export abstract class ClaimMap {
  readonly #claims = new Map<string, Claim>();
  readonly #running = new Map<string, Running>();
  readonly #retrying = new Map<string, Retrying>();
  readonly #held = new Map<string, Held>();
  /** The last unfinished operation on each issue. */
  readonly #locks = new Map<string, Promise<void>>();
  readonly #listeners: ((change: ClaimChange) => void)[] = [];
  /**
   * Issues that could not be inherited yet and whose earlier agent may be alive. Each takes a slot until it is
   * inherited.
   */
  protected readonly leftBehind = new Set<string>();
  /** Claims of other daemons on the same store, as last read. */
  #elsewhere: readonly ForeignClaim[] = [];

  /** Calls the listener right after each change. It must not throw. */
  onChange(listener: (change: ClaimChange) => void): void {
    this.#listeners.push(listener);
  }

  get(issueId: string): Claim | undefined {
    return this.#claims.get(issueId);
  }

  has(issueId: string): boolean {
    return this.#claims.has(issueId);
  }

  /** Whether an operation on this issue is in progress: then no run of it may begin. */
  isChanging(issueId: string): boolean {
    return this.#locks.has(issueId);
  }

  get all(): ReadonlyMap<string, Claim> {
    return this.#claims;
  }

  get running(): ReadonlyMap<string, Running> {
    return this.#running;
  }

  get retrying(): ReadonlyMap<string, Retrying> {
    return this.#retrying;
  }

  get held(): ReadonlyMap<string, Held> {
    return this.#held;
  }

  get elsewhere(): readonly ForeignClaim[] {
    return this.#elsewhere;
  }

  /** Why a run of this issue may not begin; null when it is free. */
  whyClaimed(issueId: string): SkipReason | null {
    const claim = this.#claims.get(issueId);
    if (claim === undefined) return this.isChanging(issueId) ? claimed('its claim is being written') : null;
    switch (claim.status) {
      case 'running':
        return claimed(workOf[claim.role]);
      case 'retrying':
        return claimed(claim.wait?.text ?? `it is retried at ${timeToSecond(claim.dueAt)}`);
      case 'held':
        // What happens next has the reason.
        return claimed('it is on hold');
      case 'inheriting':
        return claimed('this daemon is inheriting it from a daemon that is gone');
    }
  }

  /** The slots that are taken, here and by other daemons on the same store. */
  takenSlots(): Slot[] {
    const left = [...this.leftBehind].filter((id) => !this.#claims.has(id));
    return [
      ...left.flatMap((issueId) => slotOf({ status: 'inheriting', issueId, generation: null }) ?? []),
      ...[...this.#claims.values()].flatMap((claim) => slotOf(claim) ?? []),
      ...this.#elsewhere.flatMap(({ slot }) => slot ?? []),
    ];
  }

  /** A worker's retry is due and waits for a slot. */
  areWorkersWaiting(): boolean {
    return [...this.#retrying.values()].some(({ slotWaits, role }) => slotWaits > 0 && roleOf(role) === 'worker');
  }

  /** Everything that decides whether an issue is free and which slots are taken; callers compare two of these. */
  facts(): unknown {
    return [
      [...this.#claims.values()].map((claim) => [
        claim.status === 'inheriting' ? claim.issueId : claim.issue.id,
        claim.status,
        slotOf(claim),
      ]),
      [...this.#locks.keys()],
      [...this.leftBehind],
      this.#elsewhere,
    ];
  }

  /** Notes the claims of other daemons, and the issues where an agent of a dead daemon may be alive. */
  noteOthers(elsewhere: readonly ForeignClaim[], leftBehind: Iterable<string>): void {
    this.#elsewhere = elsewhere;
    this.leftBehind.clear();
    for (const id of leftBehind) this.leftBehind.add(id);
  }

  /** Runs one operation on an issue at a time, in call order. It begins at once when none is in progress. */
  protected async alone<T>(
    issueId: string,
    by: ClaimOperation,
    work: (claim: Claim | undefined) => Promise<Done<T>>,
  ): Promise<T> {
    const before = this.#locks.get(issueId);
    const mine = Promise.withResolvers<void>();
    this.#locks.set(issueId, mine.promise);
    const unlock = (): void => {
      if (this.#locks.get(issueId) === mine.promise) this.#locks.delete(issueId);
      mine.resolve();
    };
    try {
      if (before !== undefined) await before;
      const done = await work(this.#claims.get(issueId));
      // A listener may start an operation on this issue, so the lock is released before the change is published.
      unlock();
      if (done.claim !== undefined) this.put(issueId, done.claim, done.by ?? by);
      return done.answer;
    } finally {
      unlock();
    }
  }

  /** The only place where a claim enters, changes or leaves. */
  protected put(issueId: string, after: Claim | null, by: ClaimOperation): void {
    const before = this.#claims.get(issueId) ?? null;
    for (const map of [this.#claims, this.#running, this.#retrying, this.#held])
      if (after === null || before?.status !== after.status) map.delete(issueId);
    if (after !== null) this.#claims.set(issueId, after);
    if (after?.status === 'running') this.#running.set(issueId, after);
    if (after?.status === 'retrying') this.#retrying.set(issueId, after);
    if (after?.status === 'held') this.#held.set(issueId, after);
    for (const listener of this.#listeners) listener({ issueId, before, after, by });
  }
}

function claimed(text: string): SkipReason {
  return { code: 'claimed', text };
}

const workOf: Readonly<Record<Role, string>> = {
  setup: 'an agent finds out how the repository is built and tested',
  intake: 'an agent reads its text',
  judge: 'a judge reviews its change',
  phase_judge: 'a judge reviews the artifact of its phase',
  phase: 'an agent is working on its phase',
  worker: 'an agent is working on it',
  planner: 'a planner splits it',
  scanner: 'an agent looks for improvements',
  learner: 'an agent reads what happened',
};
