import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ClaimFact,
  findInQueue,
  findingsToReport,
  type QueueFacts,
  type QueueFinding,
  type RunFact,
  sightings,
  type WaitingFact,
} from '../../../src/core/dispatch/queue-health.ts';
import { issue } from '../../fake/issues.ts';
import { telling } from '../../telling.ts';

const hour = 3_600_000;
const day = 24 * hour;
const now = Date.UTC(2026, 5, 10);
const leaseMs = 30_000;

const found = (facts: Partial<QueueFacts>) =>
  findInQueue({ now, leaseMs, waiting: [], failing: [], held: [], claims: [], runs: [], ...facts });
const waiting = (changes: Partial<WaitingFact> & { updatedAt?: number | null } = {}): WaitingFact => ({
  issue: issue({ id: '1', updatedAt: changes.updatedAt ?? null }),
  seenForMs: 0,
  wasClaimed: false,
  reason: null,
  ...changes,
});
const claim = (changes: Partial<ClaimFact> = {}): ClaimFact => ({
  issueId: '1',
  identifier: 'T-1',
  host: 'there',
  generation: 3,
  claimedAt: now - day,
  leaseUntil: now - 2 * leaseMs - 1,
  isExpired: true,
  ...changes,
});
const run = (changes: Partial<RunFact> = {}): RunFact => ({
  runId: 'r',
  issueId: '1',
  identifier: 'T-1',
  host: 'there',
  generation: 3,
  startedAt: now - 2 * leaseMs - 1,
  ...changes,
});

describe('an issue that waits', () => {
  it('is found after a day in its state, by its last change or by how long Baton saw it there', () => {
    expect(found({ waiting: [waiting({ updatedAt: now - day + 1, seenForMs: day - 1 })] })).toEqual([]);
    expect(found({ waiting: [waiting({ updatedAt: now - day })] })).toHaveLength(1);
    expect(found({ waiting: [waiting({ seenForMs: day })] })).toHaveLength(1);
    // A comment does not make it young, nor does a restart.
    expect(found({ waiting: [waiting({ updatedAt: now - 1, seenForMs: 2 * day })] })[0]?.since).toBe(now - 2 * day);
    expect(found({ waiting: [waiting({ updatedAt: now - 3 * day, seenForMs: 0 })] })[0]?.since).toBe(now - 3 * day);
  });

  it('has the reason why it is not started', () => {
    const reason = { code: 'blocked', text: 'it waits for T-7 (Todo)' } as const;
    expect(
      found({ waiting: [waiting({ seenForMs: 26 * hour, reason }), waiting({ seenForMs: 25 * hour })] }),
    ).toMatchObject([
      { code: 'waits_too_long', text: telling('"Todo"', '26 h', reason.text) },
      { code: 'waits_too_long', text: telling('"Todo"', '25 h') },
    ]);
  });

  it.each([
    'claimed',
    'claimed_elsewhere',
    'not_chosen',
    'not_dispatchable',
    'missing_label',
    'terminal_state',
    'inactive_state',
  ] as const)('is not a finding when someone else has to act first: %s', (code) => {
    expect(found({ waiting: [waiting({ seenForMs: 9 * day, reason: { code, text: '' } })] })).toEqual([]);
  });

  it('counts from its last claim, however old its last change is', () => {
    expect(found({ waiting: [waiting({ updatedAt: now - 9 * day, wasClaimed: true, seenForMs: hour })] })).toEqual([]);
    expect(found({ waiting: [waiting({ wasClaimed: true, seenForMs: day })] })).toHaveLength(1);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1e18, 0, 1e18])(
    'ignores an impossible time: %d',
    (updatedAt) => {
      expect(found({ waiting: [waiting({ updatedAt })] })).toEqual([]);
      const [old] = found({ waiting: [waiting({ updatedAt, seenForMs: day })] });
      expect(old?.since).toBe(now - day);
    },
  );
});

describe('an issue that fails repeatedly', () => {
  const failing = (failures: number, error: string | null = 'boom') => ({
    failing: [{ issue: issue({ id: '1' }), failures, error, since: now - hour }],
  });

  it('is found from the second failure in a row on, with the last error', () => {
    expect(found(failing(1))).toEqual([]);
    expect(found(failing(2))).toMatchObject([{ code: 'fails_repeatedly', text: telling(2, 'boom') }]);
    expect(found(failing(7, null))).toMatchObject([{ code: 'fails_repeatedly', text: telling(7) }]);
  });

  it('is reported in one harmless line, whatever the agent wrote', () => {
    const [finding] = found(failing(2, `\u001b[31mred\u001b[0m\nnext\u202eline ${'x'.repeat(10_000)}`));
    expect(finding?.text).toMatch(/^[^\p{C}\p{Zl}]+…$/u);
    expect(finding?.text.length).toBeLessThan(400);
  });
});

it('a held issue is found after a day, with the reason of the hold', () => {
  const held = (since: number) => ({ held: [{ issue: issue({ id: '1' }), reason: 'a question', since }] });
  expect(found(held(now - day + 1))).toEqual([]);
  expect(found(held(now + day))).toEqual([]);
  expect(found(held(now - day))).toMatchObject([{ code: 'held_too_long', text: telling('24 h', 'a question') }]);
});

describe('an abandoned lease', () => {
  it('is found two leases after it expired without renewal', () => {
    expect(found({ claims: [claim({ host: 'host-7' })] })).toMatchObject([
      { code: 'lease_abandoned', identifier: 'T-1', text: telling('host-7', '1 min') },
    ]);
    expect(found({ claims: [claim({ leaseUntil: now - 2 * leaseMs })] })).toEqual([]);
    expect(found({ claims: [claim({ isExpired: false })] })).toEqual([]);
  });

  it('is reported for an older version of Baton and for an issue without a name', () => {
    expect(found({ claims: [claim({ host: null, identifier: null })] })).toMatchObject([
      { code: 'lease_abandoned', issueId: '1', identifier: null, text: telling('1 min') },
    ]);
  });
});

describe('a run without an end', () => {
  it('is found two leases after its start when no daemon has a claim on its issue', () => {
    expect(found({ runs: [run({ runId: 'run-5', host: 'host-7' })] })).toMatchObject([
      { code: 'run_abandoned', identifier: 'T-1', text: telling('run-5', 'host-7', '1 min') },
    ]);
    expect(found({ runs: [run({ startedAt: now - 2 * leaseMs })] })).toEqual([]);
  });

  it('is found when the claim has another generation and its new owner had time to end the run', () => {
    const newer = claim({ generation: 4, isExpired: false });
    expect(found({ runs: [run()], claims: [newer] })).toHaveLength(1);
    expect(found({ runs: [run()], claims: [{ ...newer, claimedAt: now - leaseMs }] })).toEqual([]);
  });

  it('is not found while its claim is held; its expired lease is reported instead', () => {
    expect(found({ runs: [run()], claims: [claim({ isExpired: false })] })).toEqual([]);
    expect(found({ runs: [run()], claims: [claim()] }).map(({ code }) => code)).toEqual(['lease_abandoned']);
  });
});

it('findings are sorted with the oldest first', () => {
  const facts = {
    waiting: [waiting({ seenForMs: 2 * day })],
    held: [{ issue: issue({ id: '2' }), reason: '', since: now - 3 * day }],
    claims: [claim()],
  };
  expect(found(facts).map(({ code }) => code)).toEqual(['held_too_long', 'waits_too_long', 'lease_abandoned']);
});

describe('sightings', () => {
  const nobody = () => false;
  const see = (before: ReturnType<typeof sightings>, at: number, state: string, isClaimed = nobody) =>
    sightings(before, [issue({ id: '1', state })], { at, isClaimed });

  it('are kept by state, whatever its case, and dropped with the issue', () => {
    const first = see(new Map(), 10, 'Todo');
    expect(see(first, 20, ' TODO').get('1')?.at).toBe(10);
    expect(see(first, 20, 'In Progress').get('1')?.at).toBe(20);
    expect(sightings(first, [], { at: 20, isClaimed: nobody }).size).toBe(0);
    expect(see(sightings(first, [], { at: 20, isClaimed: nobody }), 30, 'Todo').get('1')?.at).toBe(30);
  });

  it('start again after each claim', () => {
    const claimed = see(see(new Map(), 10, 'Todo'), 20, 'Todo', () => true);
    expect(claimed.get('1')).toEqual({ state: 'todo', at: 20, wasClaimed: true });
    expect(see(claimed, 30, 'Todo').get('1')).toEqual({ state: 'todo', at: 20, wasClaimed: true });
    expect(see(claimed, 30, 'Rework').get('1')).toEqual({ state: 'rework', at: 30, wasClaimed: false });
  });
});

describe('findings to report', () => {
  const finding = (issueId: string, code: QueueFinding['code'] = 'held_too_long'): QueueFinding => ({
    code,
    issueId,
    identifier: issueId,
    text: `${Math.random()}`,
    since: 0,
  });

  it('are the new ones, and each again after a day, even if its text changed', () => {
    const first = findingsToReport([finding('1'), finding('2')], new Map(), { at: 0, most: 20 });
    expect(first.news).toHaveLength(2);
    const later = findingsToReport([finding('1'), finding('1', 'waits_too_long')], first.reportedAt, {
      at: day - 1,
      most: 20,
    });
    expect(later.news.map(({ code }) => code)).toEqual(['waits_too_long']);
    const dayLater = findingsToReport([finding('1'), finding('2')], later.reportedAt, { at: day, most: 20 });
    // The second was gone in between, so it is new.
    expect(dayLater.news.map(({ issueId }) => issueId)).toEqual(['1', '2']);
  });

  it('are limited at one time, and all are reported in the end', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(60)), fc.integer({ min: 1, max: 7 }), (ids, most) => {
        const findings = ids.map((id) => finding(`${id}`));
        const heard: string[] = [];
        let reportedAt: ReadonlyMap<string, number> = new Map();
        for (let look = 0; look <= Math.ceil(ids.length / most); look += 1) {
          const telling = findingsToReport(findings, reportedAt, { at: look, most });
          reportedAt = telling.reportedAt;
          expect(telling.news.length).toBeLessThanOrEqual(most);
          heard.push(...telling.news.map(({ issueId }) => issueId ?? ''));
          expect(heard.length + telling.postponed).toBe(ids.length);
        }
        expect(heard.toSorted()).toEqual(ids.map(String).toSorted());
      }),
    );
  });
});
