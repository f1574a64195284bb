import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AccountState,
  chooseAccount,
  mergeWindows,
  type QuotaWindow,
  whyNotReady,
} from '../../../src/core/account/account.ts';
import {
  afterGoodRun,
  afterProbe,
  isProvedBy,
  needsProbe,
  parkAfter,
  probedBy,
  triedAgain,
} from '../../../src/core/account/account-park.ts';
import type { AccountSettings } from '../../../src/core/settings.ts';
import { timeToSecond } from '../../../src/core/text/time-text.ts';
import { telling } from '../../telling.ts';

const now = Date.UTC(2026, 6, 1, 12);
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const quota = { why: 'quota', resetsAt: null, reason: 'usage limit reached' } as const;
const auth = { why: 'auth', resetsAt: null, reason: 'not logged in' } as const;

const known = (more: Partial<AccountState> = {}): AccountState => {
  return { backend: 'codex', name: 'main', windows: [], parked: null, parks: 0, ...more };
};
const window = (name: string, usedPercent: number, resetsAt: number | null): QuotaWindow => {
  return { name, usedPercent, windowMinutes: 300, resetsAt };
};
const parkedUntil = (state: AccountState): number => {
  if (state.parked === null) throw new Error('It is not parked.');
  return state.parked.until;
};

/** Parks, waits the time out and parks again, so many times; gives the waits. */
function waitsInARow(error: typeof quota | typeof auth, times: number): number[] {
  let [state, at] = [known(), now];
  return Array.from({ length: times }, () => {
    state = parkAfter({ state, now: at, chance: 0, error });
    const waitMs = parkedUntil(state) - at;
    at = parkedUntil(state);
    return waitMs;
  });
}

describe('the windows of a quota', () => {
  it('keep the values of windows that a report does not name, and take new values for the others', () => {
    const before = [window('primary', 10, now), window('secondary', 20, null)];
    expect(mergeWindows(before, [window('primary', 30, null)])).toEqual([
      window('primary', 30, null),
      window('secondary', 20, null),
    ]);
    expect(mergeWindows(before, [])).toEqual(before);
  });

  it('have the last reported value of each name, however the reports are split', () => {
    const name = fc.constantFrom('primary', 'secondary', 'third', '__proto__', '');
    const reports = fc.array(fc.array(fc.tuple(name, fc.nat(100)), { maxLength: 4 }), { maxLength: 6 });
    fc.assert(
      fc.property(reports, (cut) => {
        const one = cut.map((report) => report.map(([each, used]) => window(each, used, null)));
        const merged = one.reduce<readonly QuotaWindow[]>((sofar, report) => mergeWindows(sofar, report), []);
        expect(merged).toEqual(mergeWindows([], one.flat()));
        const last = new Map(one.flat().map((each) => [each.name, each.usedPercent]));
        expect(new Map(merged.map((each) => [each.name, each.usedPercent]))).toEqual(last);
      }),
    );
  });

  it('are limited in number when an agent makes up names, and the newest reports stay', () => {
    let windows: readonly QuotaWindow[] = [];
    for (let at = 0; at < 500; at += 1) windows = mergeWindows(windows, [window(`w${at}`, at, null)]);
    expect(windows).toHaveLength(20);
    expect(windows.map(({ name }) => name)).toContain('w499');
  });

  it('of other limits with made-up names do not replace those of the plan', () => {
    let windows: readonly QuotaWindow[] = [window('primary', 90, now), window('secondary', 5, now)];
    for (let at = 0; at < 500; at += 1)
      windows = mergeWindows(windows, [{ ...window(`w${at} primary`, at, null), isOther: true }]);
    expect(windows).toHaveLength(20);
    expect(windows).toEqual(expect.arrayContaining([window('primary', 90, now), window('secondary', 5, now)]));
    expect(windows.map(({ name }) => name)).toContain('w499 primary');
  });
});

describe('an account that refused a run', () => {
  // @conforms runs.25
  it('for lack of quota waits until the announced time', () => {
    const state = parkAfter({ state: known(), now, chance: 0, error: { ...quota, resetsAt: now + 5 * hour } });
    expect(state).toEqual(
      known({
        parked: { until: now + 5 * hour, since: now, why: 'quota', reason: 'usage limit reached', isAnnounced: true },
        parks: 1,
      }),
    );
  });

  it('without an announced time waits a minute, doubled each time in a row, up to an hour', () => {
    expect(waitsInARow(quota, 9).map((ms) => ms / minute)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  it('for a missing login waits from five minutes to an hour', () => {
    expect(waitsInARow(auth, 6).map((ms) => ms / minute)).toEqual([5, 10, 20, 40, 60, 60]);
  });

  it.each([
    ['is past', -1],
    ['is just now', 0],
    ['is more than eight days ahead', 8 * day + 1],
    ['is no number', Number.NaN],
    ['is never', Number.POSITIVE_INFINITY],
  ])('ignores an announced time that %s', (_words, aheadMs) => {
    const state = parkAfter({ state: known(), now, chance: 0, error: { ...quota, resetsAt: now + aheadMs } });
    expect(parkedUntil(state) - now).toBe(minute);
  });

  it('for a missing login ignores the reset time of the quota', () => {
    const error = { ...auth, resetsAt: now + day };
    expect(parkedUntil(parkAfter({ state: known(), now, chance: 0, error })) - now).toBe(5 * minute);
  });

  it('adds jitter of at most a tenth and at most a minute, and never subtracts any', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(quota, auth),
        fc.option(fc.integer({ min: 1, max: 8 * day }), { nil: null }),
        fc.nat(80),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (error, aheadMs, parks, chance) => {
          const told = { ...error, resetsAt: aheadMs === null ? null : now + aheadMs };
          const wait = (dice: number): number =>
            parkedUntil(parkAfter({ state: known({ parks }), now, chance: dice, error: told })) - now;
          expect(wait(chance)).toBeGreaterThanOrEqual(wait(0));
          expect(wait(chance)).toBeLessThanOrEqual(wait(0) + Math.ceil(Math.min(wait(0) / 10, minute)));
        },
      ),
    );
  });

  // @conforms runs.26
  it('for ten runs at once counts as one refusal', () => {
    let state = known();
    for (let run = 0; run < 10; run += 1) state = parkAfter({ state, now: now + run, chance: 0, error: quota });
    expect(state).toMatchObject({ parks: 1, parked: { since: now, until: now + 9 + minute } });
  });

  it('is never free sooner because another run is refused meanwhile', () => {
    const long = parkAfter({ state: known(), now, chance: 0, error: { ...quota, resetsAt: now + hour } });
    expect(parkAfter({ state: long, now: now + 1, chance: 0, error: quota })).toEqual(long);
    const later = parkAfter({ state: long, now: now + 1, chance: 0, error: { ...quota, resetsAt: now + 2 * hour } });
    expect(later).toMatchObject({ parks: 1, parked: { since: now, until: now + 2 * hour } });
  });

  it('keeps the reason of the agent as one short line, whatever its text', () => {
    const error = { ...quota, reason: `\u001b[2Jno\n\u202equota${'x'.repeat(5_000)}` };
    const { parked } = parkAfter({ state: known(), now, chance: 0, error });
    expect(parked?.reason).toMatch(/^␛\[2Jno ⟦U\+202E⟧quotax+$/);
    expect(parked?.reason.length).toBeLessThanOrEqual(300);
  });

  it('starts counting again after a good run, and keeps its windows', () => {
    const windows = [window('primary', 99, now + hour)];
    const state = parkAfter({ state: known({ windows, parks: 5 }), now, chance: 0, error: quota });
    expect(afterGoodRun(state)).toEqual(known({ windows }));
  });
});

describe('an account that announces a wrong reset time', () => {
  /** Refused again at the end of each wait, with the same time told; gives the waits in seconds. */
  function waits(toldMs: number, times: number): number[] {
    let [state, at] = [known(), now];
    return Array.from({ length: times }, () => {
      state = parkAfter({ state, now: at, chance: 0, error: { ...quota, resetsAt: at + toldMs } });
      const waited = parkedUntil(state) - at;
      at = parkedUntil(state);
      return waited / 1_000;
    });
  }

  // @conforms runs.55
  it('waits as if it announced none from the second wrong time on, at most an hour', () => {
    expect(waits(1_000, 10)).toEqual([1, 1, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
  });

  // @conforms runs.56
  it('still waits for an announced time that is far ahead', () => {
    expect(waits(5 * hour, 6)).toEqual(Array(6).fill(5 * 3_600));
  });

  it('is believed again after a turn that succeeded', () => {
    let [state, at] = [known(), now];
    for (let time = 0; time < 5; time += 1) {
      state = parkAfter({ state, now: at, chance: 0, error: { ...quota, resetsAt: at + 1_000 } });
      at = parkedUntil(state);
    }
    state = afterGoodRun(state);
    expect(parkedUntil(parkAfter({ state, now: at, chance: 0, error: { ...quota, resetsAt: at + 1_000 } }))).toBe(
      at + 1_000,
    );
  });

  it('is not counted as wrong when a person had it tried before that time', () => {
    let state = known();
    for (let time = 0; time < 5; time += 1) {
      const at = now + time * minute;
      state = parkAfter({ state, now: at, chance: 0, error: { ...quota, resetsAt: at + hour } });
      expect(parkedUntil(state) - at).toBe(hour);
      state = triedAgain(state, at + 1_000);
      expect(whyNotReady(state, { now: at + 1_000, stopPercent: 95 })).toBeNull();
    }
    const next = parkAfter({ state, now: now + hour, chance: 0, error: { ...quota, resetsAt: now + hour + 1 } });
    expect(parkedUntil(next)).toBe(now + hour + 1);
  });

  it('never waits less than the announced time, nor more than an hour beyond it', () => {
    const told = fc.array(fc.option(fc.integer({ min: 1, max: 8 * day }), { nil: null }), { maxLength: 12 });
    fc.assert(
      fc.property(told, fc.double({ min: 0, max: 1, noNaN: true }), (drawn, chance) => {
        let [state, at] = [known(), now];
        for (const ms of drawn) {
          state = parkAfter({ state, now: at, chance, error: { ...quota, resetsAt: ms === null ? null : at + ms } });
          const waited = parkedUntil(state) - at;
          expect(waited).toBeGreaterThanOrEqual(ms ?? minute);
          expect(waited).toBeLessThanOrEqual(Math.max(hour, ms ?? 0) + minute);
          at = parkedUntil(state);
        }
      }),
    );
  });
});

describe('an account whose wait has ended', () => {
  const run = { runId: 'r1', startedAt: now };
  const main: AccountSettings = { name: 'main', backend: 'codex', env: {}, home: null };
  const parked = (error: typeof quota | typeof auth) => parkAfter({ state: known(), now, chance: 0, error, by: 'r0' });
  const wanted = { backend: 'codex', preferred: null, stopPercent: 95 };

  it.each([quota, auth])('is tried by one run, while the others wait for the end of that run', (error) => {
    const state = parked(error);
    const at = parkedUntil(state);
    expect(needsProbe(state, at - 1)).toBe(false);
    expect(needsProbe(state, at)).toBe(true);
    expect(chooseAccount([main], [state], { ...wanted, now: at })).toEqual({ account: main });
    expect(chooseAccount([main], [state], { ...wanted, now: at, startsBefore: 1 })).toMatchObject({
      why: { code: 'waiting_quota', until: at + 15 * minute },
    });
    const tried = probedBy(state, 'r1', at);
    expect(whyNotReady(tried, { now: at, stopPercent: 95 })?.text).toContain(error.reason);
    expect(whyNotReady(afterProbe(tried, 'another'), { now: at, stopPercent: 95 })).not.toBeNull();
    expect(whyNotReady(afterProbe(tried, 'r1'), { now: at, stopPercent: 95 })).toBeNull();
    // A daemon that died while it tried it keeps nobody waiting for ever.
    expect(whyNotReady(tried, { now: at + hour, stopPercent: 95 })).toBeNull();
  });

  it('is free for all runs when its announced time was never wrong', () => {
    const told = { ...quota, resetsAt: now + hour };
    const state = parkAfter({ state: known(), now, chance: 0, error: told });
    expect(needsProbe(state, now + hour)).toBe(false);
    const again = parkAfter({ state, now: now + hour, chance: 0, error: { ...quota, resetsAt: now + 2 * hour } });
    expect(needsProbe(again, now + 2 * hour)).toBe(true);
  });

  it('leaves the other runs to an account that is good, or that no run tries yet', () => {
    const second = { ...main, name: 'second' };
    const at = parkedUntil(parked(auth));
    const states = [parked(auth), { ...parked(auth), name: 'second' }];
    const choose = (known: readonly AccountState[], startsBefore: number) =>
      chooseAccount([main, second], known, { ...wanted, now: at, startsBefore });
    expect(choose(states.slice(0, 1), 9)).toEqual({ account: second });
    expect(choose(states, 1)).toEqual({ account: second });
    expect(choose(states, 2)).toHaveProperty('why');
  });

  it('is ready again only after a success of a run that began after the refusal, or that tried it', () => {
    const state = parked(quota);
    expect(isProvedBy(state, run)).toBe(false);
    expect(isProvedBy(state, { ...run, startedAt: now + 1 })).toBe(true);
    expect(isProvedBy(probedBy(state, 'r1', now), run)).toBe(true);
  });

  it('is parked once by the run that was refused first, however often that is recorded', () => {
    const once = parked(auth);
    expect(parkAfter({ state: once, now, chance: 0, error: auth, by: 'r0' })).toEqual(once);
    expect(parkAfter({ state: once, now, chance: 0, error: auth, by: 'r9' }).parked?.by).toBe('r0');
  });
});

describe('an account with an unpaid bill', () => {
  const billing = { ...quota, isBilling: true };

  // @conforms runs.81
  it('is tried after half an hour, then less and less often, by one run at a time', () => {
    const waits: number[] = [];
    let [state, at] = [known(), now];
    for (let run = 0; run < 6; run += 1) {
      state = parkAfter({ state, now: at, chance: 0, error: billing });
      waits.push((parkedUntil(state) - at) / minute);
      at = parkedUntil(state);
      expect(needsProbe(state, at)).toBe(true);
    }
    expect(waits).toEqual([30, 60, 120, 240, 240, 240]);
  });

  it('is not tried before the announced time', () => {
    const error = { ...billing, resetsAt: now + 5 * hour };
    expect(parkedUntil(parkAfter({ state: known(), now, chance: 0, error })) - now).toBe(5 * hour);
    const soon = { ...billing, resetsAt: now + minute };
    expect(parkedUntil(parkAfter({ state: known(), now, chance: 0, error: soon })) - now).toBe(30 * minute);
  });
});

describe('the reason why an account is not ready', () => {
  const asked = { now, stopPercent: 95 };

  it('names the account, the cause and the time', () => {
    const state = parkAfter({ state: known(), now, chance: 0, error: { ...quota, resetsAt: now + hour } });
    expect(whyNotReady(state, asked)).toEqual({
      text: telling('"main"', 'codex', quota.reason, '2026-07-01 13:00:00Z'),
      until: now + hour,
    });
    expect(whyNotReady(parkAfter({ state: known(), now, chance: 0, error: auth }), asked)).toEqual({
      text: telling('"main"', 'codex', auth.reason, '2026-07-01 12:05:00Z'),
      until: now + 5 * minute,
    });
    expect(whyNotReady(known({ windows: [window('primary', 97.9, now + hour)] }), asked)?.text).toEqual(
      telling('"main"', 'codex', 97, '"primary"', 'agent.quota_stop_percent', 95, '2026-07-01 13:00:00Z'),
    );
  });

  it.each([
    ['it is used to less', window('primary', 94.9, now + hour)],
    ['it has begun anew since', window('primary', 100, now)],
    ['it tells no time', window('primary', 100, null)],
    ['it tells a time that is not to be believed', window('primary', 100, now + 400 * day)],
    ['it tells no number', window('primary', Number.NaN, now + hour)],
  ])('ignores a window when %s', (_words, each) => {
    expect(whyNotReady(known({ windows: [each] }), asked)).toBeNull();
  });

  // @conforms tools.20
  it('ignores the limit of another model, however long it lasts', () => {
    const other = { ...window('mini primary', 100, now + 6 * day), isOther: true };
    expect(whyNotReady(known({ windows: [window('primary', 3, now + hour), other] }), asked)).toBeNull();
    expect(whyNotReady(known({ windows: [window('primary', 100, now + hour), other] }), asked)?.until).toBe(now + hour);
  });

  it('begins at the configured percentage, and is the one that lasts longest', () => {
    const windows = [window('primary', 95, now + hour), window('secondary', 100, now + 3 * day)];
    const state = parkAfter({ state: known({ windows }), now, chance: 0, error: quota });
    expect(whyNotReady(state, asked)).toMatchObject({
      text: expect.stringContaining('"secondary"'),
      until: now + 3 * day,
    });
  });

  // @conforms runs.27
  it('holds exactly until the announced time', () => {
    const ahead = fc.integer({ min: -day, max: 8 * day });
    const windows = fc.array(fc.tuple(fc.integer({ min: 80, max: 110 }), fc.option(ahead, { nil: null })), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(windows, fc.option(ahead, { nil: null }), fc.integer({ min: 1, max: 100 }), (drawn, park, stop) => {
        const state = known({
          windows: drawn.map(([used, at], index) => window(`w${index}`, used, at === null ? null : now + at)),
          parked: park === null ? null : { until: now + park, since: now, why: 'quota', reason: 'r' },
        });
        const wait = whyNotReady(state, { now, stopPercent: stop });
        if (wait === null) return;
        expect(wait.until).toBeGreaterThan(now);
        expect(wait.text).toContain(timeToSecond(wait.until));
        expect(whyNotReady(state, { now: wait.until - 1, stopPercent: stop })?.until).toBe(wait.until);
        expect(whyNotReady(state, { now: wait.until, stopPercent: stop })).toBeNull();
      }),
    );
  });

  it('does not last for years because the clock was wrong when the account was parked', () => {
    const wrong = parkAfter({ state: known(), now: now + 4_000 * day, chance: 0, error: quota });
    expect(whyNotReady(wrong, asked)).toBeNull();
  });
});

describe('the account of the next run', () => {
  const account = (name: string, backend = 'codex'): AccountSettings => ({ name, backend, env: {}, home: null });
  const accounts = [account('other', 'claude'), account('a'), account('b'), account('c')];
  const parked = (name: string, ms: number): AccountState =>
    parkAfter({ state: known({ name }), now, chance: 0, error: { ...quota, resetsAt: now + ms } });
  const wanted = { backend: 'codex', preferred: null, now, stopPercent: 95 };

  it('is the first one of its backend in the file while nothing else is known', () => {
    expect(chooseAccount(accounts, [], wanted)).toEqual({ account: account('a') });
  });

  it('is the preferred one when it is ready, otherwise the first ready one', () => {
    expect(chooseAccount(accounts, [], { ...wanted, preferred: 'c' })).toEqual({ account: account('c') });
    expect(chooseAccount(accounts, [parked('c', hour)], { ...wanted, preferred: 'c' })).toEqual({
      account: account('a'),
    });
    expect(chooseAccount(accounts, [parked('a', hour)], { ...wanted, preferred: 'gone' })).toEqual({
      account: account('b'),
    });
  });

  it('is not affected by an account of the same name of another backend', () => {
    const states = [{ ...parked('a', hour), backend: 'claude' }];
    expect(chooseAccount(accounts, states, wanted)).toEqual({ account: account('a') });
  });

  it('is missing when all are parked, with the reason of the one that is ready soonest', () => {
    const states = [parked('a', 3 * hour), parked('b', hour), parked('c', 2 * hour)];
    expect(chooseAccount(accounts, states, wanted)).toEqual({
      why: {
        code: 'waiting_quota',
        text: telling('"b"', 'codex', quota.reason, '2026-07-01 13:00:00Z', 2),
        until: now + hour,
      },
    });
  });

  it('is missing when the file has none for the backend', () => {
    const choice = chooseAccount(accounts, [], { ...wanted, backend: 'acp' });
    expect(choice).toEqual({
      why: { code: 'waiting_quota', text: telling('agent.accounts', 'acp'), until: now + 8 * day },
    });
  });

  it('is ready whenever any account is ready, and one is ready at the announced time', () => {
    const waits = fc.array(fc.option(fc.integer({ min: 1, max: 8 * day }), { nil: null }), {
      minLength: 3,
      maxLength: 3,
    });
    fc.assert(
      fc.property(waits, fc.constantFrom('a', 'b', 'c', null), (drawn, preferred) => {
        const states = drawn.flatMap((ms, at) => (ms === null ? [] : [parked(['a', 'b', 'c'][at] ?? '', ms)]));
        const choice = chooseAccount(accounts, states, { ...wanted, preferred });
        if ('account' in choice) {
          expect(states.map(({ name }) => name)).not.toContain(choice.account.name);
          return;
        }
        expect(states).toHaveLength(3);
        expect(chooseAccount(accounts, states, { ...wanted, preferred, now: choice.why.until })).toHaveProperty(
          'account',
        );
      }),
    );
  });
});
