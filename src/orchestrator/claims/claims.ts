import { BatonError, toBatonError } from '../../core/baton-error.ts';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { type Issue, normalizeState } from '../../core/issue/issue.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { Recovery } from '../../store/recovery.ts';
import type { StoreTables } from '../../store/store.ts';
import type { ClaimHolder, Claim as ClaimRow } from '../../store/tables/claims.ts';
import type { HeldIssue } from '../../store/tables/held.ts';
import type { Retry as RetryRow } from '../../store/tables/retries.ts';
import type { BaseParts } from '../parts.ts';
import { type BegunRun, beginRun, type RefusedRun, type StartRequest } from './begin-run.ts';
import {
  type Claim,
  type ForeignClaim,
  type Held,
  type Hold,
  type Inheriting,
  type Retry,
  type Retrying,
  type Running,
  slotOf,
  storedSlot,
} from './claim.ts';
import { ClaimMap } from './claim-map.ts';
import { holdFrom, putHold, putRetry, retryFrom } from './claim-rows.ts';
import {
  type Inheritance,
  type Inherited,
  type NextStep,
  type RunEndRows,
  type TakeClaim,
  takeLeft,
  writeEnd,
  writeHold,
  writeInherited,
  writeRelease,
} from './claim-writes.ts';
import { clearCounts, type IssueCounts, noStreaks, readCounts, writeStreaks } from './issue-counters.ts';

export type ClaimsParts = Pick<
  BaseParts,
  'clock' | 'host' | 'isShared' | 'leaseMs' | 'logger' | 'own' | 'owner' | 'project' | 'store'
>;

export interface Settlement<Next>
  extends Omit<RunEndRows, 'runId' | 'step' | 'streaks' | 'endedWell' | 'commentsUntil'> {
  /** Decides the next step; called when no other operation on the issue is in progress. */
  readonly decide: () => Next;
}

export interface Delay {
  readonly delayMs: number;
  /** Why a retry that was due could not start. */
  readonly why?: SkipReason;
  readonly slotWaits?: number;
  readonly failedReads?: number;
}

/** Delay before a start that could not be written is tried again. */
const startAgainMs = 1_000;

/**
 * The only owner of claims: which issues this daemon has, and why. Nothing else writes claims, retries, holds,
 * generations and counters, in memory or in the store.
 *
 * | operation   | from                 | to                                                                        |
 * |-------------|----------------------|---------------------------------------------------------------------------|
 * | begin       | free, retrying       | running at once, while its start is written                               |
 * |             | running              | as before, if the start is not written; held at a limit; free if lost     |
 * | settle      | running              | retrying, held or free; free if the claim is not ours any more            |
 * | hold        | free, retrying, held | held                                                                      |
 * |             | running              | running, and held afterwards                                              |
 * | release     | retrying, held       | free                                                                      |
 * |             | running              | running, and not held afterwards                                          |
 * | retryHeld   | held                 | retrying                                                                  |
 * | retryInPhase| retrying             | retrying now, without failures; free if lost                              |
 * | postpone    | retrying             | retrying at another time; only in memory                                  |
 * | inherit     | free                 | inheriting; then retrying, held or free                                   |
 * | lose        | retrying, held       | free: another daemon has it                                               |
 * |             | running, inheriting  | unchanged until it ends, but nothing about it is written any more         |
 * | refresh     | running              | running, in the state that the tracker has; its slot follows              |
 * | move        | running              | running, in the state that Baton moved it to                              |
 * | reload      | any but inheriting   | as in the restored store; runs continue                                   |
 *
 * Each operation waits until no other one on the same issue is in progress, does one transaction that is refused unless
 * owner and generation match, replaces the claim, and publishes one change. The write always comes before its effect.
 * Slots, timers, read caches, watchers and the slot filler listen to the changes.
 */
export class Claims extends ClaimMap {
  readonly #parts: ClaimsParts;

  constructor(parts: ClaimsParts) {
    super();
    this.#parts = parts;
  }

  counts(issueId: string): Promise<IssueCounts> {
    return readCounts(this.#parts.store, this.#key(issueId));
  }

  /**
   * Begins a run: the issue is running from this call on, and its start is written next. The caller has checked, with
   * no await in between, that the issue is free or retrying and that a slot is free.
   */
  begin(running: Running, request: StartRequest): Promise<BegunRun | RefusedRun> {
    const { id } = running.issue;
    const from = this.retrying.get(id) ?? null;
    change(running, { generation: from?.generation ?? null });
    this.put(id, running, 'begin');
    return this.alone<BegunRun | RefusedRun>(id, 'not_begun', async () => {
      const answer = await this.#writeStart(running, request);
      if (!answer.isBegun) return { answer, claim: this.#insteadOf(running, from, answer) };
      const { generation, before } = answer;
      change(running, { generation, before });
      return { answer, claim: running, by: 'begun' };
    });
  }

  /**
   * Writes the end of a run, its usage, its counters and the next step: all or nothing. Null: the claim is not ours.
   */
  settle<Next extends Pick<RunEndRows, 'step' | 'streaks'>>(
    running: Running,
    settlement: Settlement<Next>,
  ): Promise<Next | null> {
    return this.alone(running.issue.id, 'settle', async () => {
      const next = settlement.decide();
      const { runId, commentsUntil } = running;
      const rows = { ...settlement, ...next, runId, commentsUntil, endedWell: endedWell(running, settlement.end) };
      const isOurs = await this.#write(running, (tables, key, holder) => writeEnd(tables, key, holder, rows));
      return isOurs ? { answer: next, claim: this.#claimAfter(running, next.step) } : { answer: null, claim: null };
    });
  }

  /** Writes something about a live run in one transaction; false when its claim is not ours any more. */
  writeForRun(running: Running, work: (tables: StoreTables, key: IssueKey) => Promise<void>): Promise<boolean> {
    return this.#write(running, work);
  }

  /** The end of the run could not be written, and the daemon stops: the next daemon finds a run without an end. */
  abandon({ issue }: Running): void {
    this.put(issue.id, null, 'settle');
  }

  /**
   * Holds an issue for a person: at once if it is ours or free, after its run if it runs. Rejects with `claim_lost`
   * when another daemon has it, and when the hold could not be written.
   */
  hold(hold: Hold): Promise<'held' | 'after_run'> {
    const { id, identifier } = hold.issue;
    return this.alone(id, 'hold', async (claim) => {
      if (claim?.status === 'inheriting')
        throw lost(`This daemon is still inheriting ${identifier} from a daemon that is gone.`);
      if (claim?.status === 'running') return { answer: await this.#holdAfterRun(claim, hold), claim };
      const generation = await this.#parts.store.transaction((tables) =>
        writeHold(tables, this.#key(id), hold, {
          ours: claim === undefined ? null : this.#holder(claim),
          take: this.#taker(id),
        }),
      );
      if (generation === null) throw lost(`${identifier} belongs to another daemon.`);
      const { issue, code, reason } = hold;
      const named = { issue_id: issue.id, issue_identifier: issue.identifier };
      this.#parts.logger.warn('issue_held', { ...named, code, reason });
      return { answer: 'held' as const, claim: heldUnder(hold, generation) };
    });
  }

  /**
   * Releases a retrying or held issue, or cancels the hold that follows a running one. Returns false when there was
   * nothing to release. With `byPerson` the issue gets a new allowance, and a lost claim rejects with `claim_lost`.
   * With `only`, nothing happens unless that is still the claim; a retry is released only this way.
   */
  async release(
    issueId: string,
    { byPerson, only }: { readonly byPerson: boolean; readonly only?: Claim },
  ): Promise<boolean> {
    const answer = await this.alone(issueId, 'release', async (claim) => {
      const isMeant = only === undefined ? claim?.status !== 'retrying' : claim === only;
      if (claim === undefined || claim.status === 'inheriting' || !isMeant) return { answer: 'nothing' as const };
      if (claim.status === 'running') {
        if (claim.holdAfterwards === null) return { answer: 'nothing' as const };
        await this.#write(claim, async ({ held }, key) => void (await held.remove(key)));
        change(claim, { holdAfterwards: null });
        return { answer: 'released' as const, claim };
      }
      const isOurs = await this.#write(claim, (tables, key, holder) =>
        writeRelease(tables, key, holder, { byPerson, at: this.#parts.clock.now() }),
      );
      return { answer: isOurs ? ('released' as const) : ('lost' as const), claim: null };
    });
    if (answer === 'lost' && byPerson) throw lost('The issue now belongs to another daemon.');
    return answer !== 'nothing';
  }

  /**
   * Ends the hold of an issue and tries the issue now; with the kind `review` also one that waits for a retry. With
   * `byPerson` it gets a new allowance. Returns false when it is not held any more; rejects when the change could not be
   * written.
   */
  retryHeld(
    issueId: string,
    as: Pick<Retry, 'kind' | 'recovery' | 'attempt' | 'agent'>,
    { byPerson }: { readonly byPerson: boolean },
  ): Promise<boolean> {
    return this.alone(issueId, 'retry', async (claim) => {
      const isDelivered = as.kind === 'review' && claim?.status === 'retrying';
      if (claim?.status !== 'held' && !isDelivered) return { answer: false };
      const { issue } = claim;
      let retry: Retry | null = null;
      const isOurs = await this.#write(claim, async (tables, key, holder) => {
        const { failures, staleRuns } = byPerson ? noStreaks : await readCounts(tables, key);
        const { role = 'worker' } = claim;
        retry = { ...as, role, issue, failures, staleRuns, error: null, dueAt: this.#parts.clock.now() };
        await tables.held.remove(key);
        if (byPerson) await clearCounts(tables, key);
        await putRetry(tables, key, retry);
        await tables.claims.setSlot(key, holder, null);
      });
      if (!isOurs || retry === null) throw lost(`${issue.identifier} now belongs to another daemon.`);
      return { answer: true, claim: this.#retryIn(retry, claim.generation, { delayMs: 0 }) };
    });
  }

  /** Tries an issue that waits for a retry now, with the agent that a person chose. False when it waits no more. */
  retryWith(issueId: string, agent: string): Promise<boolean> {
    return this.alone(issueId, 'retry', async (claim) => {
      if (claim?.status !== 'retrying') return { answer: false };
      const retry: Retry = { ...claim, agent, dueAt: this.#parts.clock.now() };
      const isOurs = await this.#write(claim, (tables, key) => putRetry(tables, key, retry));
      if (!isOurs) throw lost(`${claim.issue.identifier} now belongs to another daemon.`);
      return { answer: true, claim: this.#retryIn(retry, claim.generation, { delayMs: 0 }) };
    });
  }

  /**
   * Tries an issue that waits for a retry now, because it is in another phase than the run that failed: the wait and the
   * failures in a row were about that one. False when it waits no more, or when its commits are about to go to review.
   */
  retryInPhase(issueId: string): Promise<boolean> {
    return this.alone(issueId, 'retry', async (claim) => {
      if (claim?.status !== 'retrying' || claim.kind === 'review') return { answer: false };
      const asFirst = {
        kind: 'interrupted',
        attempt: null,
        failures: 0,
        staleRuns: 0,
        recovery: null,
        error: null,
      } as const;
      const retry: Retry = { ...claim, ...asFirst, dueAt: this.#parts.clock.now() };
      const isOurs = await this.#write(claim, async (tables, key) => {
        await writeStreaks(tables, key, noStreaks);
        await putRetry(tables, key, retry);
      });
      if (!isOurs) return { answer: false, claim: null };
      return { answer: true, claim: this.#retryIn(retry, claim.generation, { delayMs: 0 }) };
    });
  }

  /** Tries a retrying issue at another time. The stored retry does not change. */
  postpone(retrying: Retrying, delay: Delay): void {
    const { id } = retrying.issue;
    if (this.get(id) === retrying) this.put(id, this.#retryIn(retrying, retrying.generation, delay), 'postpone');
  }

  /**
   * Inherits an issue that no live daemon has. It raises the generation first, so that the previous owner cannot write
   * any more; lets `end` end the processes; then ends the runs, and holds or retries the issue. Returns what it
   * inherited, or null when another daemon has the issue after all, when there is nothing to inherit, or when the claim
   * was lost meanwhile.
   */
  async inherit(
    issueId: string,
    end: (found: Inheritance) => Promise<Inherited>,
  ): Promise<{ readonly found: Inheritance; readonly hold: Hold | null } | null> {
    if (this.has(issueId) || this.isChanging(issueId)) return null;
    this.put(issueId, { status: 'inheriting', issueId, generation: null }, 'inherit');
    try {
      const found = await this.alone(issueId, 'inherit', async () => {
        const taken = await this.#parts.store.transaction((tables) =>
          takeLeft(tables, this.#key(issueId), this.#taker(issueId)),
        );
        const claim: Inheriting = { status: 'inheriting', issueId, generation: taken?.generation ?? null };
        if (taken === null) this.leftBehind.delete(issueId);
        return { answer: taken, claim: taken === null ? null : claim };
      });
      if (found === null) return null;
      const inherited = await end(found);
      return await this.alone(issueId, 'inherit', async (claim) => {
        const isOurs =
          claim?.status === 'inheriting' &&
          (found.runs.length === 0
            ? claim.generation !== null
            : await this.#write(claim, (tables, key, holder) => writeInherited(tables, key, holder, found, inherited)));
        this.leftBehind.delete(issueId);
        const { hold, retry, delayMs } = inherited;
        const generation = claim?.generation ?? null;
        const next = hold === null ? this.#retryIn(retry, generation, { delayMs }) : heldUnder(hold, generation);
        return { answer: isOurs ? { found, hold } : null, claim: isOurs ? next : null };
      });
    } catch (error) {
      if (this.get(issueId)?.status === 'inheriting') this.put(issueId, null, 'inherit');
      throw error;
    }
  }

  /** Another daemon has the issue: everything that we know or promised about it is void. */
  lose(issueId: string): void {
    const claim = this.get(issueId);
    if (claim === undefined) return;
    const isLive = claim.status === 'running' || claim.status === 'inheriting';
    if (isLive) change(claim, { generation: null });
    this.put(issueId, isLive ? claim : null, 'lose');
  }

  /** Extends our claims. Returns the issues whose claim is not ours any more. */
  async renew(leaseMs: number): Promise<readonly string[]> {
    const { store, clock, project, owner } = this.#parts;
    const before = [...this.all].map(([id, { generation }]) => ({ id, generation }));
    const kept = await store.claims.renewAll(project, owner, { at: clock.now(), leaseMs });
    const generationOf = new Map(kept.map(({ issueId, generation }) => [issueId, generation]));
    // A claim that was released or taken again meanwhile is not lost.
    return before
      .filter(({ id, generation }) => generation !== null && this.get(id)?.generation === generation)
      .flatMap(({ id, generation }) => (generationOf.get(id) === generation ? [] : [id]));
  }

  /** Takes a fresh record from the tracker. Every daemon on the store counts slots by the current state of an issue. */
  refresh(running: Running, issue: Issue): void {
    const hasMoved = normalizeState(running.issue.state) !== normalizeState(issue.state);
    change(running, { issue });
    if (!hasMoved || running.before === null) return;
    this.put(issue.id, running, 'refresh');
    const { store, own } = this.#parts;
    const setSlot = this.alone(issue.id, 'refresh', async (claim) => {
      // A run that has ended meanwhile takes no slot.
      const { role } = running;
      if (claim === running) await store.claims.setSlot(this.#key(issue.id), this.#holder(running), issue.state, role);
      return { answer: undefined };
    });
    own('slot', setSlot);
  }

  /** Baton moved the issue because work begins on it. Its slot was already taken in that state. */
  movedAtStart(running: Running, issue: Issue): void {
    change(running, { issue, movesTo: null });
    this.put(issue.id, running, 'move');
  }

  /**
   * The store was restored to an earlier moment: its holds and retries are valid from now on. Runs in progress continue
   * under the claims that the store has now; a run that has lost its claim does not get one again.
   */
  async reload(): Promise<void> {
    const reloadIssue = (issueId: string): Promise<void> =>
      this.alone(issueId, 'reload', async (claim) => {
        if (claim === undefined || claim.status === 'inheriting' || claim.generation === null)
          return { answer: undefined };
        const stored = await this.#parts.store.transaction(async (tables) => {
          const key = this.#key(issueId);
          const taken = await this.#taker(issueId)(tables, slotOf(claim));
          const hold = (await tables.held.list(key.project)).find((row) => row.issueId === issueId);
          return { generation: taken?.generation ?? claim.generation, hold, retry: await tables.retries.read(key) };
        });
        return { answer: undefined, claim: this.#restored(claim, stored) };
      });
    await Promise.all([...this.all.keys()].map(reloadIssue));
  }

  /** For a visitor that only reads: shows what the store says and claims nothing. */
  show({ held, retries, claims }: Recovery): void {
    for (const row of held) this.put(row.issueId, heldUnder(holdFrom(row), null), 'reload');
    const now = this.#parts.clock.now();
    // A daemon that starts now would try a due retry at once, so it is not shown as waiting.
    for (const row of retries)
      if (!this.has(row.issueId) && row.dueAt > now)
        this.put(row.issueId, this.#retryIn(retryFrom(row), null, { delayMs: row.dueAt - now }), 'reload');
    const others = claims.filter(({ isExpired, issueId }) => !isExpired && !this.has(issueId));
    this.noteOthers(others.map(foreign), []);
  }

  /** At a stop: releases every claim; retries and holds stay for the next daemon. */
  async releaseAll(): Promise<void> {
    const ours = [...this.all].filter(([, { generation }]) => generation !== null);
    if (ours.length === 0) return;
    await this.#parts.store.transaction(async ({ claims }) => {
      for (const [id, claim] of ours) await claims.release(this.#key(id), this.#holder(claim));
    });
    for (const [, claim] of ours) change(claim, { generation: null });
  }

  /** The claim of an issue according to a restored store. */
  #restored(
    claim: Running | Retrying | Held,
    { generation, hold, retry }: { generation: number | null; hold: HeldIssue | undefined; retry: RetryRow | null },
  ): Claim | null {
    if (claim.status === 'running') {
      const holdAfterwards = hold === undefined ? null : { code: hold.code, reason: hold.reason };
      change(claim, { generation, holdAfterwards });
      return claim;
    }
    if (claim.status === 'held') return hold === undefined ? null : { ...claim, generation };
    return retry === null || hold !== undefined ? null : this.#retryWhenDue(retryFrom(retry), generation);
  }

  async #writeStart(running: Running, request: StartRequest): Promise<BegunRun | RefusedRun> {
    const { store, clock, logger, project, host, isShared } = this.#parts;
    const { id, identifier } = running.issue;
    try {
      return await store.transaction((tables) =>
        beginRun(tables, request, {
          project,
          host,
          isShared,
          now: clock.now(),
          ours: running.generation === null ? null : this.#holder(running),
          take: (inside) => this.#taker(id)(inside, request.slot),
        }),
      );
    } catch (thrown) {
      const error = toBatonError(thrown);
      logger.error('run_start_write_failed', { issue_id: id, issue_identifier: identifier, error });
      const refusal = { code: 'not_recorded', text: `its start could not be recorded: ${error.message}` } as const;
      return { isBegun: false, refusal, held: null };
    }
  }

  /** The run did not begin: the issue returns to what it was, or is held, or belongs to another daemon. */
  #insteadOf(running: Running, from: Retrying | null, { refusal, held }: RefusedRun): Claim | null {
    if (held !== null) return heldUnder(held.hold, held.generation);
    if (from === null || refusal.code === 'claimed_elsewhere' || running.generation === null) return null;
    const { slotWaits } = from;
    return this.#retryIn(from, running.generation, { delayMs: startAgainMs, why: refusal, slotWaits });
  }

  #claimAfter({ generation }: Running, step: NextStep): Claim | null {
    if (step.action === 'release') return null;
    if (step.action === 'hold') return heldUnder(step.hold, generation);
    return this.#retryWhenDue(step.retry, generation);
  }

  /** Notes the hold in memory at once and writes it next: it must survive a crash before the end of the run. */
  async #holdAfterRun(running: Running, hold: Hold): Promise<'after_run'> {
    const { code, reason } = hold;
    // An issue that a person has taken over stays taken over, whatever other hold is asked for.
    if (running.holdAfterwards?.code === 'taken_over' && code !== 'taken_over') return 'after_run';
    change(running, { holdAfterwards: { code, reason } });
    await this.#write(running, (tables, key) => putHold(tables, key, hold));
    return 'after_run';
  }

  #retryWhenDue(retry: Retry, generation: number | null): Retrying {
    return this.#retryIn(retry, generation, { delayMs: Math.max(0, retry.dueAt - this.#parts.clock.now()) });
  }

  #retryIn(retry: Retry, generation: number | null, { delayMs, why, slotWaits, failedReads }: Delay): Retrying {
    return {
      ...retry,
      status: 'retrying',
      generation,
      wakeAt: this.#parts.clock.monotonic() + delayMs,
      wait: why ?? null,
      slotWaits: slotWaits ?? 0,
      failedReads: failedReads ?? 0,
    };
  }

  #key(issueId: string): IssueKey {
    return { project: this.#parts.project, issueId };
  }

  /** What the store compares. It refuses a claim without a generation. */
  #holder({ generation }: Pick<Claim, 'generation'>): ClaimHolder {
    return { owner: this.#parts.owner, generation: generation ?? 0 };
  }

  #taker(issueId: string): TakeClaim {
    const { owner, host, clock, leaseMs } = this.#parts;
    return (tables, slot) => {
      const wanted = { owner, host, at: clock.now(), leaseMs: leaseMs(), reclaim: true };
      const taken = slot === null ? { slotState: null } : { slotState: slot.state, slotRole: slot.role };
      return tables.claims.take(this.#key(issueId), { ...wanted, ...taken });
    };
  }

  /** Does the work in one transaction, only if the claim is still ours. */
  #write(
    claim: Claim,
    work: (tables: StoreTables, key: IssueKey, holder: ClaimHolder) => Promise<void>,
  ): Promise<boolean> {
    const key = this.#key(claim.status === 'inheriting' ? claim.issueId : claim.issue.id);
    const holder = this.#holder(claim);
    return this.#parts.store.transaction(async (tables) => {
      if (!(await tables.claims.verify(key, holder))) return false;
      await work(tables, key, holder);
      return true;
    });
  }
}

/** The claim of another daemon, as shown and counted here. */
export function foreign({ issueId, host, ...claim }: ClaimRow): ForeignClaim {
  return { issueId, host, slot: storedSlot(claim) };
}

function heldUnder(hold: Hold, generation: number | null): Held {
  return { ...hold, status: 'held', generation };
}

/** Whether the run did what it was asked to, as far as it knows: it may have been stopped after it moved its issue. */
function endedWell({ ownMove, stopRequested }: Running, { outcome }: RunEndRows['end']): boolean {
  const isStoppedByMove = stopRequested === 'terminal_state' || stopRequested === 'inactive_state';
  return outcome === 'succeeded' || (ownMove !== null && isStoppedByMove);
}

function lost(message: string): BatonError {
  return new BatonError('claim_lost', message);
}

/** Only this module may change a claim; it is read-only everywhere else. */
function change<T extends Claim>(claim: T, fields: Partial<T>): void {
  Object.assign(claim, fields);
}
