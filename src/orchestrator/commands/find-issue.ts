import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { type Issue, isMeantBy } from '../../core/issue/issue.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { SkippedIssues } from '../dispatch/skipped.ts';
import type { BaseParts } from '../parts.ts';
import type { Candidates } from '../poll/candidates.ts';
import type { FinishedIssues } from '../poll/finished-issues.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';

export interface FindIssueParts extends Pick<BaseParts, 'project' | 'source' | 'store' | 'trackerFor'> {
  readonly claims: Claims;
  readonly candidates: Candidates;
  readonly finishedIssues: FinishedIssues;
  readonly skipped: SkippedIssues;
  readonly reads: TrackerReads;
}

const caller = { job: 'commands', cause: 'person' } as const;

export interface FoundIssue {
  readonly issue: IssueName;
  /**
   * The issue as the tracker has it now; null when the tracker was not asked, because the issue is claimed or waits
   * here.
   */
  readonly fresh: Issue | null;
}

/**
 * Finds the issue for an id or an identifier in any case: one that the orchestrator knows, otherwise one in the
 * tracker. An id, also one known from an earlier run, is found in any state. An identifier is found in any state of a
 * local tracker, but only in active states of a remote one: searching the rest would cost many requests. Returns null
 * when there is none.
 */
export async function findIssue(parts: FindIssueParts, reference: string): Promise<FoundIssue | null> {
  const { skipped, source, reads, trackerFor } = parts;
  const isMeant = (issue: IssueName): boolean => isMeantBy(issue, reference);
  const found = [...claimedIssues(parts), ...[...skipped.values()].map(({ issue }) => issue)].find(isMeant);
  if (found !== undefined) return { issue: found, fresh: null };
  const id = (await knownId(parts, reference)) ?? reference.trim();
  const byId = (await reads.byIds([id], caller)).get(id) ?? null;
  if (byId !== null) return { issue: byId, fresh: byId };
  const { settings } = source.read().workflow;
  const { activeStates, terminalStates, reviewStates } = settings.tracker;
  const { isLocal, editor } = trackerFor(settings);
  const states =
    isLocal === true
      ? [...new Set([...activeStates, ...reviewStates, ...terminalStates, ...(editor?.states ?? [])])]
      : activeStates;
  const listed = (await reads.byStates(states, caller)).find(isMeant);
  return listed === undefined ? null : { issue: listed, fresh: listed };
}

/** The id for a name: of an issue that is claimed, waits or has finished here, or of one that ran before. */
export async function knownId(parts: FindIssueParts, reference: string): Promise<string | null> {
  const { candidates, finishedIssues, skipped, store, project } = parts;
  const wanted = reference.trim();
  const waiting: IssueName[] = [...skipped.values(), ...finishedIssues.completed.values()].map(({ issue }) => issue);
  const found = [...claimedIssues(parts), ...waiting, ...(candidates.list ?? [])].find((each) =>
    isMeantBy(each, wanted),
  );
  if (found !== undefined) return found.id;
  return (await store.runs.latestNamed(project, wanted))?.issueId ?? null;
}

function claimedIssues({ claims }: FindIssueParts): IssueName[] {
  return [...claims.all.values()].flatMap((claim) => (claim.status === 'inheriting' ? [] : [claim.issue]));
}

/** On a shared store a command about an issue waits for the daemon that has it; the store knows which one that is. */
export async function leaveToItsOwner(
  parts: Pick<FindIssueParts, 'store' | 'project'> & {
    readonly owner: string;
    readonly clock: Clock;
    readonly isShared: boolean;
  },
  issue: IssueName,
): Promise<void> {
  const { store, project, owner, clock, isShared } = parts;
  // Our own claim does not count: a daemon that was frozen may have lost it and not know that yet.
  if (!isShared) return;
  const rows = await store.claims.held(project, clock.now());
  const other = rows.find((claim) => claim.issueId === issue.id && claim.owner !== owner && !claim.isExpired);
  if (other === undefined) return;
  const where = other.host === null ? '' : ` on ${other.host}`;
  throw new BatonError('claim_lost', `The daemon${where} has ${issue.identifier} and carries out the command.`);
}
