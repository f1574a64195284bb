/**
 * When an account is parked, for how long, and how it shows that it works again. Each function returns the new state of
 * the account. What must hold: a change may be applied a second time, on a state that another daemon has updated, with
 * the same result.
 */

import { accountJitterMs, billingDelayMs, furthestResetMs, loginDelayMs, quotaDelayMs } from '../run/backoff.ts';
import { harmlessLine } from '../text/harmless-line.ts';
import type { AccountPark, AccountState } from './account.ts';

/** A reason may quote an agent; the command that logs the agent in comes after the quote, and must not be cut off. */
const longestReasonChars = { quota: 300, auth: 1_000 } as const;

/** After this many wrong reset times in a row, Baton no longer trusts the time that the account reports. */
const believedTimes = 2;

/** An account that refuses a run does so sooner than this. Without news from the probing run, others wait no longer. */
const probeMs = 15 * 60_000;

/** The error of an agent that was refused. */
export interface AccountError {
  readonly why: AccountPark['why'];
  /** When the quota is back, wall time; null where the agent did not report it. */
  readonly resetsAt: number | null;
  readonly reason: string;
  /** Waiting does not help: a person has to check the billing. */
  readonly isBilling?: boolean;
}

/**
 * The account after it refused a run.
 *
 * - quota: until the reported time, when that lies ahead and within eight days; else a minute, doubled each time in a
 *   row, an hour at most. Where the reported time was wrong twice in a row, the wait grows in the same way, and is
 *   never shorter than the reported one. So an account that reports nonsense is tried once an hour.
 * - billing: half an hour to four hours in the same way, and never shorter than the reported wait.
 * - auth: five minutes to an hour in the same way; a reported time is ignored.
 *
 * Runs in progress at the same time fail together: while the account is parked, a further error is not counted again
 * and can only make the wait longer.
 */
export function parkAfter(refusal: {
  readonly state: AccountState;
  readonly now: number;
  readonly chance: number;
  readonly error: AccountError;
  readonly by?: string;
}): AccountState {
  const { state, now, chance, error } = refusal;
  const before = state.parked !== null && isAhead(state.parked.until, now) ? state.parked : null;
  const parksBefore = before === null ? state.parks : Math.max(0, state.parks - 1);
  const wrongTimes = before === null ? wrongTimesSoFar(state.parked) : (before.wrongTimes ?? 0);
  const announcedMs = error.why === 'quota' ? announcedWaitMs(error, now) : null;
  const by = before?.by ?? refusal.by;
  const park: AccountPark = {
    until: now + waitMs(error, { announcedMs, parksBefore, wrongTimes, chance }),
    since: before?.since ?? now,
    why: error.why,
    reason: harmlessLine(error.reason).slice(0, longestReasonChars[error.why]),
    ...(by === undefined ? {} : { by }),
    ...(announcedMs === null ? {} : { isAnnounced: true }),
    ...(wrongTimes === 0 ? {} : { wrongTimes }),
  };
  const parked = before !== null && before.until >= park.until ? before : park;
  return { ...state, parked, parks: parksBefore + 1 };
}

/** The account was refused again, so the reset time it reported last was wrong. */
function wrongTimesSoFar(last: AccountPark | null): number {
  return (last?.wrongTimes ?? 0) + (last?.isAnnounced === true ? 1 : 0);
}

/** Null where the agent reported no time, or one that cannot be believed. */
function announcedWaitMs({ resetsAt }: AccountError, now: number): number | null {
  const waitMs = resetsAt === null ? 0 : resetsAt - now;
  return waitMs > 0 && waitMs <= furthestResetMs ? waitMs : null;
}

function waitMs(
  { why, isBilling }: AccountError,
  facts: {
    readonly announcedMs: number | null;
    readonly parksBefore: number;
    readonly wrongTimes: number;
    readonly chance: number;
  },
): number {
  const { announcedMs, parksBefore, wrongTimes, chance } = facts;
  if (why === 'auth') return loginDelayMs(parksBefore, chance);
  if (isBilling === true) return Math.max(billingDelayMs(parksBefore, chance), announcedMs ?? 0);
  const wait = quotaDelayMs(parksBefore, announcedMs, chance);
  if (announcedMs === null || wrongTimes < believedTimes) return wait;
  return Math.max(wait, quotaDelayMs(wrongTimes - believedTimes, null, chance));
}

/** The account after a turn that got through. */
export function afterGoodRun(state: AccountState): AccountState {
  return { ...state, parked: null, parks: 0 };
}

/** A person wants the account tried: its wait ends, even before the reported time. A later park stays in force. */
export function triedAgain(state: AccountState, askedAt: number): AccountState {
  const { parked } = state;
  if (parked === null || parked.since > askedAt || parked.until <= askedAt) return state;
  const { isAnnounced: _isTold, probe: _probe, ...park } = parked;
  return { ...state, parked: { ...park, until: askedAt } };
}

/** Whether the next run on the account is a trial: the wait has ended, and no reset time was announced. */
export function needsProbe({ parked }: AccountState, now: number): boolean {
  if (parked === null || isAhead(parked.until, now)) return false;
  return parked.isAnnounced !== true || (parked.wrongTimes ?? 0) > 0;
}

export function probedBy(state: AccountState, by: string, now: number): AccountState {
  if (state.parked === null) return state;
  return { ...state, parked: { ...state.parked, probe: { by, until: now + probeMs } } };
}

/** The account without its trial by this run, which has ended or did not begin. */
export function afterProbe(state: AccountState, by: string): AccountState {
  if (state.parked?.probe?.by !== by) return state;
  const { probe: _probe, ...parked } = state.parked;
  return { ...state, parked };
}

/** Whether a turn of this run proves that the account works: a run from before it was parked proves nothing. */
export function isProvedBy(
  { parked }: AccountState,
  run: { readonly runId: string; readonly startedAt: number },
): boolean {
  return parked === null || run.startedAt > parked.since || parked.probe?.by === run.runId;
}

/** Whether a reset time is in the future, and near enough to be plausible. */
export function isAhead(at: number, now: number): boolean {
  return at > now && at - now <= furthestResetMs + accountJitterMs;
}
