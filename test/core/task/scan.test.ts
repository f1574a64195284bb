import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUndecided } from '../../../src/core/task/proposal.ts';
import {
  backlogOf,
  type NoScan,
  type ScanFacts,
  scanAllowedFrom,
  scansToRead,
  whyNoScan,
} from '../../../src/core/task/scan.ts';
import { nextTaskId, type Task, taskKindOf } from '../../../src/core/task/task.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';

const hour = 3_600_000;
const now = 1_000 * 24 * hour;
const base = settings({ tracker: { reviewStates: ['In Review'] } });
const on = { ...base, scanner: { ...base.scanner, enabled: true } };

type Ending = 'waiting' | 'proposed' | 'accepted' | 'refused' | 'failed' | 'empty';

const decided = { waiting: null, proposed: 'open', accepted: 'accepted', refused: 'refused', failed: null } as const;

function scan(ending: Ending, changedAt = now): Task {
  const decision = ending === 'empty' ? null : decided[ending];
  const one = {
    title: 'One',
    description: '',
    criteria: [],
    priority: null,
    labels: [],
    duplicateOf: null,
    issue: null,
  };
  return {
    ...{ id: 'scan:1', kind: 'scan', title: 'Scan', text: '', error: null, author: { kind: 'orchestrator' } },
    status: ending === 'empty' ? 'proposed' : ending,
    proposal:
      ending === 'empty'
        ? { kind: 'issues', issues: [] }
        : decision === null
          ? null
          : {
              kind: 'issues',
              issues: [
                { ...one, decision },
                { ...one, decision: decision === 'open' ? 'open' : 'refused' },
              ],
            },
    ...{ createdAt: changedAt, changedAt },
  };
}

const free: ScanFacts = { now, budget: 'free', isReady: true, isBusy: false, open: [], tasks: [] };

const inState = (state: string, count: number) =>
  Array.from({ length: count }, (_, at) => issue({ id: `${state}${at}`, state }));

describe('whether a scan is due', () => {
  const rows: readonly (readonly [string, Partial<ScanFacts>, NoScan | null])[] = [
    ['nothing is open', {}, null],
    ['the backlog has nine', { open: inState('Backlog', 9) }, null],
    ['the backlog has ten', { open: inState('Backlog', 10) }, 'backlog_full'],
    ['many are in review', { open: inState('In Review', 30) }, null],
    ['one is todo', { open: inState('Todo', 1) }, 'work'],
    ['one is in progress', { open: inState('In Progress', 1) }, 'work'],
    ['something runs', { isBusy: true }, 'busy'],
    ['the tracker was not read', { isReady: false }, 'not_ready'],
    ['the backlog is unknown', { open: null }, 'unknown'],
    ['the budget is used', { budget: 'used' }, 'budget_used'],
    ['the budget has no limit', { budget: 'none' }, 'unlimited'],
    ['a scan waits for its agent', { tasks: [scan('waiting', 0)] }, 'undecided'],
    ['a scan waits for a person', { tasks: [scan('proposed', 0)] }, 'undecided'],
    ['an old scan waits for a person', { tasks: [scan('failed', 0), scan('proposed', 0)] }, 'undecided'],
    ['the last one proposed nothing, long ago', { tasks: [scan('empty', 0)] }, null],
    ['a proposal was accepted 23 h ago', { tasks: [scan('accepted', now - 23 * hour)] }, 'cooldown'],
    ['a proposal was accepted 24 h ago', { tasks: [scan('accepted', now - 24 * hour)] }, null],
    ['all were refused 47 h ago', { tasks: [scan('refused', now - 47 * hour)] }, 'cooldown'],
    ['all were refused 48 h ago', { tasks: [scan('refused', now - 48 * hour)] }, null],
    ['it failed 47 h ago', { tasks: [scan('failed', now - 47 * hour)] }, 'cooldown'],
    ['the clock went back', { tasks: [scan('accepted', now + 1_000 * hour)] }, 'cooldown'],
  ];
  // @conforms 4.111
  it.each(rows)('%s', (_, facts, why) => {
    expect(whyNoScan(on, { ...free, ...facts })).toBe(why);
  });

  it('is not unless it is switched on', () => {
    expect(whyNoScan(base, free)).toBe('off');
  });

  it('counts a blocked issue in todo as backlog', () => {
    const waits = issue({ id: '1', blockedBy: [{ id: '2', identifier: 'T-2', state: 'Backlog' }] });
    expect(whyNoScan(on, { ...free, open: [waits] })).toBeNull();
    expect(backlogOf([waits], on.tracker)).toBe(1);
  });
});

const ending = fc.constantFrom<Ending>('accepted', 'refused', 'failed', 'empty');
const anyFacts = fc.record<ScanFacts>({
  now: fc.constant(now),
  budget: fc.constantFrom('free', 'used', 'none'),
  isReady: fc.boolean(),
  isBusy: fc.boolean(),
  open: fc.option(
    fc.array(
      fc.constantFrom('Backlog', 'In Review', 'Todo', 'Done').map((state) => issue({ state })),
      { maxLength: 12 },
    ),
  ),
  tasks: fc.array(
    fc
      .tuple(fc.constantFrom<Ending>('accepted', 'refused', 'failed', 'empty', 'waiting', 'proposed'), fc.nat(200))
      .map(([end, hoursAgo]) => scan(end, now - hoursAgo * hour)),
    { maxLength: scansToRead },
  ),
});

describe('whatever the facts', () => {
  // @conforms 4.136
  it('one unknown or one no is enough: nothing makes up for it', () => {
    const noes: readonly Partial<ScanFacts>[] = [
      { budget: 'used' },
      { budget: 'none' },
      { isReady: false },
      { isBusy: true },
      { open: null },
      { open: inState('Todo', 1) },
      { open: inState('Backlog', 10) },
      { tasks: [scan('proposed', 0)] },
      { tasks: [scan('accepted', now)] },
    ];
    fc.assert(
      fc.property(anyFacts, fc.constantFrom(...noes), (facts, no) => {
        expect(whyNoScan(on, { ...facts, ...no })).not.toBeNull();
      }),
    );
  });

  it('the pause is the first one after an accepted proposal, doubles after each useless scan, and is bounded', () => {
    fc.assert(
      fc.property(fc.array(ending, { minLength: 1, maxLength: scansToRead }), (endings) => {
        const scans = endings.map((each) => scan(each, 0));
        const pause = scanAllowedFrom(hour, scans);
        const useless = endings.indexOf('accepted') < 0 ? endings.length : endings.indexOf('accepted');
        expect(pause).toBe(hour * 2 ** Math.min(useless, 6));
        expect(scanAllowedFrom(hour, [scan('refused', 0), ...scans])).toBe(Math.min(pause * 2, 64 * hour));
        expect(scanAllowedFrom(hour, [scan('accepted', 0), ...scans])).toBe(hour);
      }),
    );
  });

  it('two that begin the next scan begin the same one, and a later one is another', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(now), { minLength: 1, maxLength: 5 }),
        fc.nat(now),
        fc.nat(now),
        (times, at, later) => {
          const scans = times.map((time) => scan('accepted', time));
          const id = nextTaskId('scan', scans, at);
          expect([nextTaskId('scan', scans, later), taskKindOf(id)]).toEqual([id, 'scan']);
          const [{ createdAt = 0 } = {}] = scans;
          expect(nextTaskId('scan', [scan('waiting', createdAt + 1), ...scans], at)).not.toBe(id);
        },
      ),
    );
  });

  it('only a scan with something to decide waits for a person', () => {
    expect(
      (['waiting', 'proposed', 'accepted', 'refused', 'failed', 'empty'] as const).map((each) =>
        isUndecided(scan(each)),
      ),
    ).toEqual([...[true, true, false, false, false, false]]);
  });
});
