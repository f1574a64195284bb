import { type Issue, normalizeState } from '../issue/issue.ts';
import { durationText } from '../text/amount-text.ts';
import { harmlessLine } from '../text/harmless-line.ts';
import type { SkipReason } from './eligibility.ts';

/**
 * Finds what is stuck in the queue, so that a person hears of it. Everything here only reads; what must hold:
 *
 * - An issue counts as waiting from when it is known to have been in its state: from its last change, or from when Baton
 *   first saw it there, whichever is earlier. A comment does not restart that time; a claim does, because then it was
 *   worked on.
 * - An issue that Baton may not start is not a finding: no required label, somebody else's issue, a state that is not
 *   active.
 * - An expired lease, and a run without an end and without a claim, are normal for a moment, while a daemon inherits
 *   them. After two leases they are not.
 */
export type QueueFindings = readonly QueueFinding[];

export interface QueueFinding {
  readonly code: QueueFindingCode;
  readonly issueId: string | null;
  readonly identifier: string | null;
  /** `it has been in "Todo" for 26 h and was not started: it waits for T-7 (Todo)`. */
  readonly text: string;
  /** Wall time. */
  readonly since: number;
}

export type QueueFindingCode =
  /** In an active state for more than a day, and not started. */
  | 'waits_too_long'
  /** Its last runs failed, and it is tried again. */
  | 'fails_repeatedly'
  /** Held for a person for more than a day. */
  | 'held_too_long'
  /** The lease of its claim has expired, and no daemon inherited the claim. */
  | 'lease_abandoned'
  /** A run without an end, and no daemon has the claim it began with. */
  | 'run_abandoned';

export interface QueueFacts {
  /** Wall time. */
  readonly now: number;
  readonly leaseMs: number;
  /** Candidates without a claim. */
  readonly waiting: readonly WaitingFact[];
  readonly failing: readonly FailingFact[];
  readonly held: readonly HeldFact[];
  /** Claims that are not this daemon's. */
  readonly claims: readonly ClaimFact[];
  /** Runs without an end that are not this daemon's. */
  readonly runs: readonly RunFact[];
}

export interface WaitingFact {
  readonly issue: Pick<Issue, 'id' | 'identifier' | 'state' | 'updatedAt'>;
  /** How long Baton has seen it in this state, unclaimed. */
  readonly seenForMs: number;
  /** It was claimed before that, in the same state. */
  readonly wasClaimed: boolean;
  readonly reason: SkipReason | null;
}

export interface FailingFact {
  readonly issue: Pick<Issue, 'id' | 'identifier'>;
  /** In a row. */
  readonly failures: number;
  /** The error of the last failure. */
  readonly error: string | null;
  /** When the first of them ended. */
  readonly since: number;
}

export interface HeldFact {
  readonly issue: Pick<Issue, 'id' | 'identifier'>;
  readonly reason: string;
  readonly since: number;
}

export interface ClaimFact {
  readonly issueId: string;
  readonly identifier: string | null;
  readonly host: string | null;
  readonly generation: number;
  readonly claimedAt: number;
  readonly leaseUntil: number;
  readonly isExpired: boolean;
}

export interface RunFact {
  readonly runId: string;
  readonly issueId: string;
  readonly identifier: string;
  readonly host: string;
  readonly generation: number;
  readonly startedAt: number;
}

const dayMs = 24 * 3_600_000;
/** No issue waits, or is held, longer than this without a report to a person. */
const tooLongMs = dayMs;
/** One failure is bad luck. */
const manyFailures = 2;
/** The number of leases in which a daemon has to inherit the claims of a dead one. */
const inheritLeases = 2;
/** A text is for reading at a glance. */
const longestReasonChars = 300;

/** Refusals that say that an issue is not this Baton's to start. */
const notOurs: ReadonlySet<SkipReason['code']> = new Set([
  'claimed',
  'claimed_elsewhere',
  'not_chosen',
  'not_dispatchable',
  'missing_label',
  'terminal_state',
  'inactive_state',
]);

/** All findings, the oldest first. */
export function findInQueue(facts: QueueFacts): QueueFindings {
  const claimOf = new Map(facts.claims.map((claim) => [claim.issueId, claim]));
  return [
    ...facts.waiting.flatMap((fact) => waitsTooLong(fact, facts)),
    ...facts.failing.flatMap(failsRepeatedly),
    ...facts.held.flatMap((fact) => heldTooLong(fact, facts)),
    ...facts.claims.flatMap((claim) => leaseAbandoned(claim, facts)),
    ...facts.runs.flatMap((run) => runAbandoned(run, claimOf.get(run.issueId), facts)),
  ].toSorted((left, right) => left.since - right.since);
}

function waitsTooLong(fact: WaitingFact, { now }: QueueFacts): QueueFindings {
  const { issue, reason } = fact;
  if (reason !== null && notOurs.has(reason.code)) return [];
  const since = waitsSince(fact, now);
  if (now - since < tooLongMs) return [];
  const why = reason === null ? 'the reason is not known' : short(reason.text);
  const text = `it has been in "${issue.state}" for ${durationText(now - since)} and was not started: ${why}`;
  return [finding('waits_too_long', issue, text, since)];
}

function waitsSince({ issue: { updatedAt }, seenForMs, wasClaimed }: WaitingFact, now: number): number {
  const seenSince = now - seenForMs;
  // A tracker may report impossible times.
  const isBelievable = updatedAt !== null && updatedAt > 0 && Number.isFinite(updatedAt);
  return isBelievable && !wasClaimed ? Math.min(seenSince, updatedAt) : seenSince;
}

function failsRepeatedly({ issue, failures, error, since }: FailingFact): QueueFindings {
  if (failures < manyFailures) return [];
  const last = error === null ? '' : `, the last one with: ${short(error)}`;
  return [finding('fails_repeatedly', issue, `its last ${failures} runs failed${last}`, since)];
}

function heldTooLong({ issue, reason, since }: HeldFact, { now }: QueueFacts): QueueFindings {
  if (now - since < tooLongMs) return [];
  const text = `it has been on hold for ${durationText(now - since)}: ${short(reason)}`;
  return [finding('held_too_long', issue, text, since)];
}

function leaseAbandoned(claim: ClaimFact, { now, leaseMs }: QueueFacts): QueueFindings {
  const { issueId: id, identifier, host, leaseUntil } = claim;
  if (!claim.isExpired || now - leaseUntil <= inheritLeases * leaseMs) return [];
  const text = `the lease of its claim${on(host)} expired ${durationText(now - leaseUntil)} ago, and no daemon inherited it`;
  return [finding('lease_abandoned', { id, identifier }, text, leaseUntil)];
}

function runAbandoned(run: RunFact, claim: ClaimFact | undefined, { now, leaseMs }: QueueFacts): QueueFindings {
  // A daemon that inherits an issue claims it again, and then ends its runs.
  const unownedSince = claim === undefined ? run.startedAt : Math.max(run.startedAt, claim.claimedAt);
  if (claim?.generation === run.generation || now - unownedSince <= inheritLeases * leaseMs) return [];
  const { runId, issueId: id, identifier, host, startedAt } = run;
  const text = `its run ${runId}${on(host)} began ${durationText(now - startedAt)} ago and has not ended, and no daemon has its claim`;
  return [finding('run_abandoned', { id, identifier }, text, startedAt)];
}

/** Since when an issue was seen in its state, on the monotonic clock: unclaimed, or for the last time claimed. */
export interface Sighting {
  readonly state: string;
  readonly at: number;
  readonly wasClaimed: boolean;
}

/** The issues seen now, with the time of their first sighting in the same state; absent issues are dropped. */
export function sightings(
  before: ReadonlyMap<string, Sighting>,
  issues: readonly Pick<Issue, 'id' | 'state'>[],
  { at, isClaimed }: { readonly at: number; readonly isClaimed: (issueId: string) => boolean },
): ReadonlyMap<string, Sighting> {
  return new Map(
    issues.map(({ id, state: name }) => {
      const state = normalizeState(name);
      if (isClaimed(id)) return [id, { state, at, wasClaimed: true }];
      const seen = before.get(id);
      return [id, seen?.state === state ? seen : { state, at, wasClaimed: false }];
    }),
  );
}

/** Which findings to report now, and when each remaining finding was last reported, on the monotonic clock. */
export interface FindingsToReport {
  readonly news: QueueFindings;
  readonly reportedAt: ReadonlyMap<string, number>;
  /** News that must wait for the next time. */
  readonly postponed: number;
}

/** Reports a finding when it is new, and again after a day. At most `most` at once: the others follow next time. */
export function findingsToReport(
  findings: QueueFindings,
  before: ReadonlyMap<string, number>,
  { at, most }: { readonly at: number; readonly most: number },
): FindingsToReport {
  const reportedAt = new Map<string, number>();
  const news: QueueFinding[] = [];
  let postponed = 0;
  for (const each of findings) {
    const key = JSON.stringify([each.code, each.issueId]);
    const lastAt = reportedAt.get(key) ?? before.get(key);
    const isNews = lastAt === undefined || at - lastAt >= dayMs;
    if (isNews && news.length < most) {
      news.push(each);
      reportedAt.set(key, at);
    } else {
      if (isNews) postponed += 1;
      if (lastAt !== undefined) reportedAt.set(key, lastAt);
    }
  }
  return { news, reportedAt, postponed };
}

function finding(
  code: QueueFindingCode,
  { id, identifier }: { readonly id: string; readonly identifier: string | null },
  text: string,
  since: number,
): QueueFinding {
  return { code, issueId: id, identifier, text, since };
}

function on(host: string | null): string {
  return host === null ? '' : ` on ${host}`;
}

function short(text: string): string {
  const line = harmlessLine(text);
  return line.length <= longestReasonChars ? line : `${line.slice(0, longestReasonChars)}…`;
}
