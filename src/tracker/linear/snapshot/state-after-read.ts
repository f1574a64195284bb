import type { Snapshot } from '../../tracker.ts';
import type { Found } from '../read/find-issues.ts';
import type { Reading } from '../read/linear-record.ts';
import type { DispatchRules } from '../read/to-issue.ts';
import type { ClockReading } from './clock-reading.ts';
import { furtherTime, settledAfter } from './linear-time.ts';
import { hasAllNew } from './next-changes-read.ts';
import type { PollState } from './poll-state.ts';

interface For {
  readonly states: readonly string[];
  readonly rules: DispatchRules;
}

/** The state to keep after a read that began at `begun`. */
export function stateAfterRead(
  found: Found,
  snapshot: Snapshot,
  wanted: For,
  before: PollState | null,
  begun: ClockReading,
): PollState {
  const { collected, waiting } = found;
  const base = found.kind === 'all' ? null : found.base;
  const far = progressOf(found, before, begun);
  // Only a read back to `settledUntil` lists every gone issue again, so only that read may replace the list.
  const isLateRead = base === null || far.lateReadAt !== base.lateReadAt;
  return {
    states: wanted.states,
    rules: wanted.rules,
    issues: snapshot.issues,
    watched: new Map([...snapshot.watched].flatMap(([id, issue]) => (issue === null ? [] : [[id, issue]]))),
    ...far,
    fullReadAt: base?.fullReadAt ?? begun,
    pagesOfFullRead: base?.pagesOfFullRead ?? found.projectRead.pages,
    lastRider: waiting.at(-1) ?? base?.lastRider ?? null,
    gone: isLateRead ? collected.gone : new Map([...base.gone, ...collected.gone]),
  };
}

type Progress = Pick<PollState, 'newest' | 'settledUntil' | 'unsettled' | 'lateReadAt' | 'linearTime' | 'isBehind'>;

/**
 * How far a read came: to everything, to all changes including late ones, to all new changes, or not even that far.
 */
function progressOf(found: Found, before: PollState | null, begun: ClockReading): Progress {
  const { projectRead } = found;
  const reported = projectRead.newest === null ? null : { time: projectRead.newest, at: projectRead.at.monotonic };
  const linearTime = furtherTime(before?.linearTime ?? null, reported);
  if (found.kind === 'all') {
    const all = afterLateRead(projectRead.newest);
    // There were too many changes, and a full read does not list most of them.
    return found.isCrowded ? { ...all, unsettled: Number.POSITIVE_INFINITY } : all;
  }

  const { base, since } = found;
  const newest = Math.max(base.newest, projectRead.newest ?? base.newest);
  const { isWhole, oldest } = found.projectRead;
  if (isWhole && since <= base.settledUntil) return afterLateRead(newest);
  const { settledUntil, lateReadAt } = base;
  if (isWhole || hasAllNew(base, oldest)) {
    const unsettled = isWhole ? base.unsettled + projectRead.listed.length : Number.POSITIVE_INFINITY;
    return { newest, settledUntil, unsettled, lateReadAt, linearTime, isBehind: false };
  }
  // The changes that were not reached are older than those that were, so `newest` must not advance.
  return { newest: base.newest, settledUntil, unsettled: base.unsettled, lateReadAt, linearTime, isBehind: true };

  function afterLateRead(newest: number | null): Progress {
    const after =
      newest === null ? 0 : settledAfter(newest, projectRead.newest, before?.linearTime ?? null, begun.monotonic);
    // The newest change may be gone by now, together with its issue.
    const settledUntil = Math.min(Math.max(before?.settledUntil ?? after, after), (newest ?? 0) + 1);
    const unsettled = changesSince(settledUntil, projectRead.listed);
    return { newest, settledUntil, unsettled, lateReadAt: projectRead.at, linearTime, isBehind: false };
  }
}

function changesSince(time: number, listed: readonly Reading[]): number {
  return listed.filter((reading) => 'record' in reading && (reading.record.updatedAt ?? 0) >= time).length;
}
