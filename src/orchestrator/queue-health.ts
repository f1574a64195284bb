import {
  type FailingFact,
  findInQueue,
  type QueueFindings,
  type Sighting,
  sightings,
  type WaitingFact,
  whatToTell,
} from '../core/queue-health.ts';
import type { RunEnd } from '../core/run.ts';
import type { Recovery } from '../store/recovery.ts';
import type { RunRecord } from '../store/runs.ts';
import type { OrchestratorContext } from './context.ts';
import { type IssueName, isClaimed, type SchedulingState } from './scheduling-state.ts';

/** So many lines a look writes at most: a queue of thousands must not fill the log. */
const mostLines = 20;
/** Runs between two failures that do not count, such as interruptions, are read over up to so many. */
const runsBetween = 20;

/** What earlier looks saw and told, as long as this life goes on. Nothing is decided by it. */
interface QueueMemory {
  sightings: ReadonlyMap<string, Sighting>;
  told: ReadonlyMap<string, number>;
}

const memories = new WeakMap<SchedulingState, QueueMemory>();

/**
 * Looks for what does not go on: issues that wait or are held too long, that fail again and again, claims and runs that
 * nobody has. It reports and changes nothing, and it sends nothing: it knows the tracker from the last poll.
 */
export async function lookAtQueue(context: OrchestratorContext): Promise<QueueFindings> {
  const { store, project, clock, state, source } = context;
  const recovery = await store.recovery(project, clock.now());
  const failing = await readFailing(context);

  // No await from here on: what became ours, or went on, meanwhile is not told.
  const { leaseMs } = source.read().workflow.settings.store;
  const isOurs = ({ issueId }: { readonly issueId: string }): boolean =>
    state.generations.has(issueId) || isClaimed(state, issueId);
  const nameOf = identifiers(state, recovery);
  const findings = findInQueue({
    now: clock.now(),
    leaseMs,
    waiting: waiting(context),
    failing: failing.filter(({ issue }) => isClaimed(state, issue.id)),
    held: [...state.held.values()],
    claims: recovery.claims
      .filter((claim) => !isOurs(claim))
      .map((claim) => ({ ...claim, identifier: nameOf.get(claim.issueId) ?? null })),
    runs: recovery.unfinishedRuns.filter((run) => !isOurs(run)),
  });
  tell(context, findings);
  return findings;
}

function waiting({ state, clock }: OrchestratorContext): readonly WaitingFact[] {
  const memory = memoryOf(state);
  // Before the first answer of the tracker nothing is known.
  if (state.candidates === null) return [];
  const elsewhere = new Set(state.elsewhere.map(({ issueId }) => issueId));
  const isTaken = (id: string): boolean => isClaimed(state, id) || elsewhere.has(id);
  const at = clock.monotonic();
  memory.sightings = sightings(memory.sightings, state.candidates, { at, isClaimed: isTaken });
  return state.candidates
    .filter(({ id }) => !isTaken(id))
    .map((issue) => {
      const seen = memory.sightings.get(issue.id);
      const reason = state.skipped.get(issue.id)?.reason ?? null;
      return { issue, seenForMs: at - (seen?.at ?? at), wasClaimed: seen?.wasClaimed ?? false, reason };
    });
}

/** The claimed issues that had failures, whether they wait for their next run or are in it. */
async function readFailing({ state, store, project, clock }: OrchestratorContext): Promise<FailingFact[]> {
  const claimed: readonly { readonly issue: IssueName; readonly failures: number; readonly error: string | null }[] = [
    ...state.retrying.values(),
    ...[...state.running.values()].map(({ issue, before }) => ({
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

const countsAsFailure: ReadonlySet<RunEnd> = new Set(['failed', 'timed_out', 'stalled']);

function failureOf({ finish }: RunRecord): { readonly endedAt: number; readonly message: string | null }[] {
  if (finish === null || !countsAsFailure.has(finish.outcome)) return [];
  // An account without quota is nobody's failure.
  return finish.errorCode === 'agent_quota_exhausted'
    ? []
    : [{ endedAt: finish.endedAt, message: finish.errorMessage }];
}

/** A claim knows only the id; what people call the issue is told by whatever else is known of it. */
function identifiers({ candidates }: SchedulingState, recovery: Recovery): ReadonlyMap<string, string> {
  const rows = [...recovery.unfinishedRuns, ...recovery.retries, ...recovery.held];
  return new Map([
    ...rows.map(({ issueId, identifier }) => [issueId, identifier] as const),
    ...(candidates ?? []).map(({ id, identifier }) => [id, identifier] as const),
  ]);
}

function tell({ state, clock, logger }: OrchestratorContext, findings: QueueFindings): void {
  const memory = memoryOf(state);
  const { news, told, untold } = whatToTell(findings, memory.told, { at: clock.monotonic(), most: mostLines });
  memory.told = told;
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
  for (const { code } of findings) counts[code] = (counts[code] ?? 0) + 1;
  logger.info('queue_checked', { findings: findings.length, ...counts, untold });
}

function memoryOf(state: SchedulingState): QueueMemory {
  const memory = memories.get(state) ?? { sightings: new Map(), told: new Map() };
  memories.set(state, memory);
  return memory;
}
