/**
 * The account of a backend: whose quota a run uses. An account is parked while it has no quota or no login; then
 * nothing starts on it, and its issues wait without losing an attempt. What must hold: a parked account is free again
 * at the reported reset time, unless it reported wrong ones before; where no reset time is known, one run at a time
 * tries it until a turn succeeds; a report leaves the windows that it does not name unchanged.
 */

import { furthestResetMs } from '../run/backoff.ts';
import type { AccountSettings } from '../settings.ts';
import { harmlessLine } from '../text/harmless-line.ts';
import { timeToSecond } from '../text/time-text.ts';
import { isAhead, needsProbe, probedBy } from './account-park.ts';

/** One window of a quota, such as that of five hours or of a week, as the agent last reported it. */
export interface QuotaWindow {
  /** `primary`, `secondary`, … in the agent's words; reports of the same name replace each other. */
  readonly name: string;
  /** 0 to 100 or more. */
  readonly usedPercent: number;
  readonly windowMinutes: number | null;
  /** When it resets, wall time in milliseconds; null where that is unknown. */
  readonly resetsAt: number | null;
  /** Belongs to another limit than the plan's, such as that of one model: it is shown, but no run waits for it. */
  readonly isOther?: boolean;
}

export interface AccountState {
  readonly backend: string;
  readonly name: string;
  readonly windows: readonly QuotaWindow[];
  readonly parked: AccountPark | null;
  /** How often in a row the account was parked, without a good run in between. */
  readonly parks: number;
}

export interface AccountPark {
  /** Wall time at which it is tried again. */
  readonly until: number;
  readonly since: number;
  readonly why: 'quota' | 'auth';
  /** The agent's message, in one line for people. */
  readonly reason: string;
  /** The run that was refused first. */
  readonly by?: string;
  /** The agent reported when the quota is back. */
  readonly isAnnounced?: boolean;
  /** How often in a row the account was refused again after its reported reset time. */
  readonly wrongTimes?: number;
  /** The run that tries whether it works again; no run waits for it after this time. */
  readonly probe?: { readonly by: string; readonly until: number };
}

/** More than any agent has; an agent that makes up names does not fill the memory. */
const mostWindows = 20;

/**
 * Merges an agent's report into the known windows: it replaces the windows that it names and keeps the others. Above
 * the maximum, the windows that no run waits for are dropped first.
 */
export function mergeWindows(known: readonly QuotaWindow[], reported: readonly QuotaWindow[]): readonly QuotaWindow[] {
  const byName = new Map(known.map((window) => [window.name, window]));
  for (const window of reported) {
    // Deleted first, so that the last entries of the map are the latest reported ones.
    byName.delete(window.name);
    byName.set(window.name, window);
  }
  const inOrder = [...byName.values()].sort((a, b) => Number(b.isOther === true) - Number(a.isOther === true));
  return inOrder.slice(-mostWindows).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Why nothing starts on an account, and until when. */
export interface AccountWait {
  readonly text: string;
  /** Wall time. */
  readonly until: number;
}

/**
 * Null when a run may start, even if only as the one that tries the account. Of several reasons the longest-lasting one
 * counts. A window counts when it is used up to `stopPercent` and resets in the future; a window that has reset counts
 * as unused. No run waits for a window without a reset time within eight days, because a refused run parks the account.
 * No run waits for a window of another limit than the plan's, because it may use another model.
 */
export function whyNotReady(
  state: AccountState,
  { now, stopPercent }: { readonly now: number; readonly stopPercent: number },
): AccountWait | null {
  const waits = [
    ...(state.parked === null ? [] : parkWaits(state, state.parked, now)),
    ...state.windows
      .filter(({ usedPercent, isOther }) => usedPercent >= stopPercent && isOther !== true)
      .flatMap((window) => (window.resetsAt === null ? [] : [windowWait(state, window, window.resetsAt, stopPercent)])),
  ].filter(({ until }) => isAhead(until, now));
  const [first, ...others] = waits;
  if (first === undefined) return null;
  const { until, say } = others.reduce((longest, wait) => (wait.until > longest.until ? wait : longest), first);
  return { text: say(), until };
}

/** The account for the next run, or why there is none and until when. */
export type AccountChoice =
  | { readonly account: AccountSettings }
  | { readonly why: AccountWait & { readonly code: 'waiting_quota' } };

/**
 * Returns the preferred account when it is ready, else the first ready one in the order of the file. When none is
 * ready, returns the reason of the one that is ready soonest. An unknown account is ready. An account that must be
 * tried first is ready for a single run, and `startsBefore` others without an account may be that run.
 */
export function chooseAccount(
  accounts: readonly AccountSettings[],
  states: readonly AccountState[],
  wanted: {
    readonly backend: string;
    /** The name of the account that the issue used last, because its threads are there. */
    readonly preferred: string | null;
    readonly now: number;
    readonly stopPercent: number;
    readonly startsBefore?: number;
  },
): AccountChoice {
  const own = accounts.filter(({ backend }) => backend === wanted.backend);
  const inOrder = [
    ...own.filter(({ name }) => name === wanted.preferred),
    ...own.filter(({ name }) => name !== wanted.preferred),
  ];
  let soonest: AccountWait | null = null;
  let { startsBefore = 0 } = wanted;
  for (const account of inOrder) {
    const state = states.find(({ backend, name }) => backend === account.backend && name === account.name);
    let wait = state === undefined ? null : whyNotReady(state, wanted);
    if (state !== undefined && wait === null && startsBefore > 0 && needsProbe(state, wanted.now)) {
      startsBefore -= 1;
      wait = whyNotReady(probedBy(state, '', wanted.now), wanted);
    }
    if (wait === null) return { account };
    if (soonest === null || wait.until < soonest.until) soonest = wait;
  }
  const { text, until } = soonest ?? {
    text: `agent.accounts names no account of ${harmlessLine(wanted.backend)}`,
    until: wanted.now + furthestResetMs,
  };
  const others = inOrder.length - 1;
  const more = others === 1 ? '; 1 other account waits longer' : `; ${others} other accounts wait longer`;
  return { why: { code: 'waiting_quota', text: others > 0 ? text + more : text, until } };
}

interface Wait {
  readonly until: number;
  /** Called only to show the reason; `until` is then a time that can be written. */
  readonly say: () => string;
}

function parkWaits(state: AccountState, { why, until, reason, probe }: AccountPark, now: number): Wait[] {
  const says = (verb: string, at: number, then: string) => (): string =>
    `${named(state)} ${verb} ${why === 'quota' ? 'no quota left' : 'a login that was refused'} (${reason}); ${then} ${timeToSecond(at)}`;
  const parked = { until, say: says('has', until, 'Baton tries it again at') };
  if (probe === undefined || !needsProbe(state, now)) return [parked];
  const tried = 'one run tries it now, and the others wait for that run, at most until';
  return [parked, { until: probe.until, say: says('had', probe.until, tried) }];
}

function windowWait(state: AccountState, window: QuotaWindow, until: number, stopPercent: number): Wait {
  const { name, usedPercent } = window;
  const used = `has used ${Math.floor(usedPercent)} % of its window "${harmlessLine(name)}"`;
  const limit = `agent.quota_stop_percent is ${stopPercent}`;
  return { until, say: () => `${named(state)} ${used} (${limit}), which resets at ${timeToSecond(until)}` };
}

function named({ backend, name }: AccountState): string {
  return `account "${harmlessLine(name)}" of ${harmlessLine(backend)}`;
}
