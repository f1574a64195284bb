import type { Snapshot } from '../../tracker.ts';
import type { Found } from '../read/find-issues.ts';
import type { Reading } from '../read/linear-record.ts';
import type { DispatchRules } from '../read/to-issue.ts';
import type { Kept } from './kept-snapshot.ts';
import { furtherTime, sureAfter } from './linear-time.ts';
import type { Moment } from './moment.ts';
import { hasAllNew } from './next-look.ts';

interface For {
  readonly states: readonly string[];
  readonly rules: DispatchRules;
}

/** The state to keep after a read that began at `begun`. */
export function keptAfter(found: Found, snapshot: Snapshot, wanted: For, before: Kept | null, begun: Moment): Kept {
  const { sighted, waiting } = found;
  const base = found.kind === 'all' ? null : found.base;
  const far = howFar(found, before, begun);
  // Only a read back to `sureFrom` lists every gone issue again, so only that read may replace the list.
  const isLookBack = base === null || far.lookedBackAt !== base.lookedBackAt;
  return {
    states: wanted.states,
    rules: wanted.rules,
    issues: snapshot.issues,
    watched: new Map([...snapshot.watched].flatMap(([id, issue]) => (issue === null ? [] : [[id, issue]]))),
    ...far,
    fullReadAt: base?.fullReadAt ?? begun,
    pagesOfFullRead: base?.pagesOfFullRead ?? found.look.pages,
    lastRider: waiting.at(-1) ?? base?.lastRider ?? null,
    gone: isLookBack ? sighted.gone : new Map([...base.gone, ...sighted.gone]),
  };
}

type HowFar = Pick<Kept, 'newest' | 'sureFrom' | 'unsure' | 'lookedBackAt' | 'linearTime' | 'isBehind'>;

/**
 * How far a read came: to everything, to all changes that may have shown late, to all new changes, or not even that
 * far.
 */
function howFar(found: Found, before: Kept | null, begun: Moment): HowFar {
  const { look } = found;
  const told = look.newest === null ? null : { time: look.newest, at: look.at.monotonic };
  const linearTime = furtherTime(before?.linearTime ?? null, told);
  if (found.kind === 'all') {
    const all = lookedBack(look.newest);
    // There were too many changes, and a full read does not list most of them.
    return found.isCrowded ? { ...all, unsure: Number.POSITIVE_INFINITY } : all;
  }

  const { base, since } = found;
  const newest = Math.max(base.newest, look.newest ?? base.newest);
  const { isWhole, oldest } = found.look;
  if (isWhole && since <= base.sureFrom) return lookedBack(newest);
  const { sureFrom, lookedBackAt } = base;
  if (isWhole || hasAllNew(base, oldest)) {
    const unsure = isWhole ? base.unsure + look.listed.length : Number.POSITIVE_INFINITY;
    return { newest, sureFrom, unsure, lookedBackAt, linearTime, isBehind: false };
  }
  // The changes that were not reached are older than those that were, so `newest` must not advance.
  return { newest: base.newest, sureFrom, unsure: base.unsure, lookedBackAt, linearTime, isBehind: true };

  function lookedBack(newest: number | null): HowFar {
    const after = newest === null ? 0 : sureAfter(newest, look.newest, before?.linearTime ?? null, begun.monotonic);
    // The newest change may be gone by now, together with its issue.
    const sureFrom = Math.min(Math.max(before?.sureFrom ?? after, after), (newest ?? 0) + 1);
    const unsure = changesSince(sureFrom, look.listed);
    return { newest, sureFrom, unsure, lookedBackAt: look.at, linearTime, isBehind: false };
  }
}

function changesSince(time: number, listed: readonly Reading[]): number {
  return listed.filter((reading) => 'record' in reading && (reading.record.updatedAt ?? 0) >= time).length;
}
