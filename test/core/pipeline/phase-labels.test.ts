import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PhaseRecord } from '../../../src/core/pipeline/phase.ts';
import { phaseNames } from '../../../src/core/pipeline/phase.ts';
import { compareLabels, labelsOf } from '../../../src/core/pipeline/phase-labels.ts';
import { runs } from '../../property-runs.ts';
import { pipeline } from './phase.ts';

const record = (more: Partial<PhaseRecord> = {}): PhaseRecord => ({
  phase: 'architecture',
  since: 0,
  revisions: 0,
  revisionSince: null,
  skipped: [],
  mirrored: ['phase:architecture'],
  mirroredAt: null,
  mirroring: null,
  ...more,
});

const begun = (...labels: string[]) => ({ labels, by: 'a daemon', at: 0 });

describe('the labels of an issue, compared with the store and with what Baton wrote', () => {
  // @conforms 4.7, 4.8
  it.each([
    ['are as they should be', ['bug', 'phase:architecture'], record(), { kind: 'same' }],
    [
      'are written for the first time',
      ['bug'],
      record({ mirrored: null }),
      { kind: 'write', change: { add: ['phase:architecture'], remove: [] }, damage: [] },
    ],
    [
      'follow a move of the store',
      ['phase:research'],
      record({ mirrored: ['phase:research'] }),
      { kind: 'write', change: { add: ['phase:architecture'], remove: ['phase:research'] } },
    ],
    [
      'were removed',
      ['bug'],
      record(),
      { kind: 'write', change: { add: ['phase:architecture'] }, damage: ['missing'] },
    ],
    [
      'have an unknown phase too',
      ['phase:architecture', 'phase:gone'],
      record(),
      { kind: 'write', change: { remove: ['phase:gone'] }, damage: ['doubled', 'unknown phase:gone'] },
    ],
    ['have two other phases', ['phase:research', 'phase:ready'], record(), { kind: 'write', damage: ['doubled'] }],
    ['were changed by a person', ['phase:ready'], record(), { kind: 'moved', phase: 'ready' }],
    [
      'have a second phase by a person',
      ['phase:architecture', 'phase:ready'],
      record(),
      { kind: 'moved', phase: 'ready' },
    ],
    [
      'were changed by a person while the store moved',
      ['phase:ready'],
      record({ mirrored: ['phase:research'] }),
      { kind: 'moved', phase: 'ready' },
    ],
    [
      'are those of a write that Baton never saw the end of, while the store moved on',
      ['phase:architecture'],
      record({ phase: 'grooming', mirrored: ['phase:research'], mirroring: begun('phase:architecture') }),
      { kind: 'write', change: { add: ['phase:grooming'], remove: ['phase:architecture'] } },
    ],
    [
      'lack a mark that Baton began to write',
      ['phase:architecture'],
      record({ revisionSince: 1, mirroring: begun('phase:architecture', 'needs-revision') }),
      { kind: 'write', change: { add: ['needs-revision'] } },
    ],
    [
      'lack the mark that a person removed',
      ['phase:architecture'],
      record({ revisionSince: 1, mirrored: ['phase:architecture', 'needs-revision'] }),
      { kind: 'revision', wanted: false },
    ],
    [
      'have the mark of a person',
      ['phase:architecture', 'needs-revision'],
      record(),
      { kind: 'revision', wanted: true },
    ],
    [
      'get the mark of the store',
      ['phase:architecture'],
      record({ revisionSince: 1 }),
      { kind: 'write', change: { add: ['needs-revision'] } },
    ],
    [
      'lose the mark of the store',
      ['phase:architecture', 'needs-revision'],
      record({ mirrored: ['phase:architecture', 'needs-revision'] }),
      { kind: 'write', change: { remove: ['needs-revision'] } },
    ],
    ['keep the wish to skip a later phase', ['phase:architecture', 'skip:grooming'], record(), { kind: 'same' }],
    [
      'lose a skip that means nothing',
      ['phase:architecture', 'skip:research'],
      record(),
      { kind: 'write', change: { remove: ['skip:research'] } },
    ],
    [
      'show what was skipped',
      ['phase:ready'],
      record({ phase: 'ready', skipped: ['grooming'], mirrored: ['phase:ready'] }),
      { kind: 'write', change: { add: ['skip:grooming'] } },
    ],
  ] as const)('%s', (_title, labels, stored, finding) => {
    expect(compareLabels(labels, stored, pipeline())).toMatchObject(finding);
  });

  it('are the same after they were written, whatever they were before', () => {
    const names = phaseNames(pipeline());
    const label = fc.constantFrom(
      ...names.map((name) => `phase:${name}`),
      'phase:gone',
      'needs-revision',
      'skip:research',
      'skip:grooming',
      'bug',
    );
    const stored = fc.record({
      phase: fc.constantFrom(...names),
      since: fc.constant(0),
      revisions: fc.nat(3),
      revisionSince: fc.option(fc.nat()),
      skipped: fc.subarray(names.slice(0, 1)),
      mirrored: fc.option(fc.uniqueArray(label, { maxLength: 4 })),
      mirroredAt: fc.constant(null),
      mirroring: fc.option(fc.uniqueArray(label, { maxLength: 2 }).map((labels) => begun(...labels))),
    });
    fc.assert(
      fc.property(fc.uniqueArray(label, { maxLength: 5 }), stored, (labels, known) => {
        const found = compareLabels(labels, known, pipeline());
        if (found.kind !== 'write') return;
        const after = [...labels.filter((each) => !found.change.remove.includes(each)), ...found.change.add];
        const mirrored = labelsOf(known);
        expect(compareLabels(after, { ...known, mirrored, mirroring: null }, pipeline())).toEqual({ kind: 'same' });
        expect(after.includes('bug')).toBe(labels.includes('bug'));
      }),
      { numRuns: runs(1_000) },
    );
  });
});
