import {
  type FailingFact,
  findInQueue,
  findingsToReport,
  type QueueFindings,
  type Sighting,
  sightings,
  type WaitingFact,
} from '../../core/dispatch/queue-health.ts';
import type { RunEnd } from '../../core/run/run.ts';
import type { Recovery } from '../../store/recovery.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { SkippedIssues } from '../dispatch/skipped.ts';
import type { BaseParts } from '../parts.ts';
import type { Candidates } from '../poll/candidates.ts';

export interface QueueHealthParts extends Pick<BaseParts, 'clock' | 'logger' | 'project' | 'source' | 'store'> {
  readonly claims: Claims;
  readonly candidates: Candidates;
  readonly skipped: SkippedIssues;
}

/** One check writes at most this many lines: a queue of thousands must not fill the log. */
const mostLines = 20;
/** How many runs that are not failures, such as interruptions, a search for failures may skip. */
const runsBetween = 20;

/**
 * Finds work that is stuck: issues that wait or are held too long, issues that fail again and again, claims and runs
 * without a daemon. It only reports. It sends no request: it knows the tracker from the last poll.
 */
export class QueueHealth {
  readonly #parts: QueueHealthParts;
  #findings: QueueFindings = [];
  /** What earlier checks of this daemon saw and reported. No decision depends on it. */
  #sightings: ReadonlyMap<string, Sighting> = new Map();
  #reportedAt: ReadonlyMap<string, number> = new Map();

  constructor(parts: QueueHealthParts) {
    this.#parts = parts;
  }

  get findings(): QueueFindings {
    return this.#findings;
  }

  async check(): Promise<void> {
    const { store, project, clock, claims, source } = this.#parts;
    const recovery = await store.recovery(project, clock.now());
    const failing = await this.#readFailing();

    // No await from here on: issues that this daemon claimed or continued meanwhile are not reported.
    const { leaseMs } = source.read().workflow.settings.store;
    const nameOf = this.#identifiers(recovery);
    this.#findings = findInQueue({
      now: clock.now(),
      leaseMs,
      waiting: this.#waiting(),
      failing: failing.filter(({ issue }) => claims.has(issue.id)),
      held: [...claims.held.values()],
      claims: recovery.claims
        .filter(({ issueId }) => !claims.has(issueId))
        .map((claim) => ({ ...claim, identifier: nameOf.get(claim.issueId) ?? null })),
      runs: recovery.unfinishedRuns.filter(({ issueId }) => !claims.has(issueId)),
    });
    this.#report();
  }

  #waiting(): readonly WaitingFact[] {
    const { claims, candidates, skipped, clock } = this.#parts;
    const { list } = candidates;
    // Nothing is known before the first answer of the tracker.
    if (list === null) return [];
    const elsewhere = new Set(claims.elsewhere.map(({ issueId }) => issueId));
    const isClaimed = (id: string): boolean => claims.has(id) || elsewhere.has(id);
    const at = clock.monotonic();
    this.#sightings = sightings(this.#sightings, list, { at, isClaimed });
    return list
      .filter(({ id }) => !isClaimed(id))
      .map((issue) => {
        const seen = this.#sightings.get(issue.id);
        const reason = skipped.get(issue.id)?.reason ?? null;
        return { issue, seenForMs: at - (seen?.at ?? at), wasClaimed: seen?.wasClaimed ?? false, reason };
      });
  }

  /** The claimed issues with failures, whether they wait for their next run or are running. */
  async #readFailing(): Promise<FailingFact[]> {
    const { claims, store, project, clock } = this.#parts;
    const claimed: readonly { readonly issue: IssueName; readonly failures: number; readonly error: string | null }[] =
      [
        ...claims.retrying.values(),
        ...[...claims.running.values()].map(({ issue, before }) => ({
          issue,
          failures: before?.failures ?? 0,
          error: null,
        })),
      ];
    const found: FailingFact[] = [];
    for (const { issue, failures, error } of claimed.filter((each) => each.failures > 1)) {
      const runs = await store.runs.list(project, { issueId: issue.id, limit: failures + runsBetween });
      const failed = runs.flatMap(failureOf).slice(0, failures);
      const since = failed.at(-1)?.endedAt ?? clock.now();
      found.push({ issue, failures, error: failed[0]?.message ?? error, since });
    }
    return found;
  }

  /** A claim has only the id; the other rows and the candidates have the identifier. */
  #identifiers(recovery: Recovery): ReadonlyMap<string, string> {
    const rows = [...recovery.unfinishedRuns, ...recovery.retries, ...recovery.held];
    return new Map([
      ...rows.map(({ issueId, identifier }) => [issueId, identifier] as const),
      ...(this.#parts.candidates.list ?? []).map(({ id, identifier }) => [id, identifier] as const),
    ]);
  }

  #report(): void {
    const { clock, logger } = this.#parts;
    const rules = { at: clock.monotonic(), most: mostLines };
    const { news, reportedAt, postponed } = findingsToReport(this.#findings, this.#reportedAt, rules);
    this.#reportedAt = reportedAt;
    for (const { code, issueId, identifier, text, since } of news) {
      logger.warn('queue_stuck', {
        issue_id: issueId,
        issue_identifier: identifier,
        finding: code,
        why: text,
        since: new Date(since).toISOString(),
      });
    }
    const counts: Record<string, number> = {};
    for (const { code } of this.#findings) counts[code] = (counts[code] ?? 0) + 1;
    logger.info('queue_checked', { findings: this.#findings.length, ...counts, postponed });
  }
}

const countsAsFailure: ReadonlySet<RunEnd> = new Set(['failed', 'timed_out', 'stalled']);

function failureOf({ finish }: RunRecord): { readonly endedAt: number; readonly message: string | null }[] {
  if (finish === null || !countsAsFailure.has(finish.outcome)) return [];
  // A run without account quota is not a failure of the issue.
  return finish.errorCode === 'agent_quota_exhausted'
    ? []
    : [{ endedAt: finish.endedAt, message: finish.errorMessage }];
}
