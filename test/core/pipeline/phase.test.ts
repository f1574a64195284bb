import { describe, expect, it } from 'vitest';
import { entryPhase, laterPhases, nextPhase, phaseNames } from '../../../src/core/pipeline/phase.ts';
import { phaseWork } from '../../../src/core/pipeline/phase-work.ts';
import { pipeline } from './phase.ts';

describe('the phases of a pipeline', () => {
  it('end with ready', () => {
    expect(phaseNames(pipeline())).toEqual(['research', 'architecture', 'grooming', 'ready']);
    expect(laterPhases(pipeline(), 'architecture')).toEqual(['grooming', 'ready']);
    expect(laterPhases(pipeline(), 'ready')).toEqual([]);
    expect(laterPhases(pipeline(), 'gone')).toEqual([]);
  });

  it('begin with the first one, or where the settings say', () => {
    expect(entryPhase(pipeline())).toBe('research');
    expect(entryPhase(pipeline({ entry: 'grooming' }))).toBe('grooming');
    expect(entryPhase(pipeline({ phases: [] }))).toBe('ready');
  });

  // @conforms 4.97, 4.98
  it.each([
    ['research', null, [], 'architecture', []],
    ['research', 'ready', [], 'ready', ['architecture', 'grooming']],
    ['research', 'grooming', [], 'grooming', ['architecture']],
    ['research', null, ['architecture'], 'grooming', ['architecture']],
    ['research', null, ['architecture', 'grooming'], 'ready', ['architecture', 'grooming']],
    ['research', 'architecture', ['architecture'], 'grooming', ['architecture']],
    ['grooming', null, ['ready'], 'ready', []],
    ['grooming', null, ['research'], 'ready', []],
  ])('after %s with skip_to %s and marks %j comes %s', (name, skipTo, marked, next, skipped) => {
    expect(nextPhase(pipeline(), name, { skipTo, marked })).toEqual({ phase: next, skipped });
  });
});

describe('the next run of an issue', () => {
  const open = (state: 'pending' | 'judging', phase = 'architecture') => ({ id: 'c', phase, state });

  // @conforms 4.100, 4.101, 4.102, 4.103, 4.109, 4.135
  it.each([
    ['without a pipeline', [], null, null, pipeline({ phases: [] }), { role: 'worker', phase: null }],
    ['of a new issue', [], null, null, pipeline(), { role: 'phase', phase: 'research' }],
    ['of a labelled one', ['phase:grooming'], null, null, pipeline(), { role: 'phase', phase: 'grooming' }],
    ['of one labelled ready', ['phase:ready'], null, null, pipeline(), { role: 'worker', phase: 'ready' }],
    [
      'of one labelled twice',
      ['phase:ready', 'phase:research'],
      null,
      null,
      pipeline(),
      { role: 'phase', phase: 'research' },
    ],
    ['of one with an unknown label', ['phase:gone'], null, null, pipeline(), { role: 'phase', phase: 'research' }],
    [
      'in a phase',
      ['phase:ready'],
      { phase: 'architecture' },
      null,
      pipeline(),
      { role: 'phase', phase: 'architecture' },
    ],
    ['that is ready', [], { phase: 'ready' }, null, pipeline(), { role: 'worker', phase: 'ready' }],
    [
      'whose claim is undecided',
      [],
      { phase: 'architecture' },
      open('pending'),
      pipeline(),
      { role: null, phase: 'architecture', why: 'claim_pending' },
    ],
    [
      'whose artifact is judged',
      [],
      { phase: 'architecture' },
      open('judging'),
      pipeline(),
      { role: 'phase_judge', phase: 'architecture', claimId: 'c' },
    ],
    [
      'whose claim is of another phase',
      [],
      { phase: 'architecture' },
      open('pending', 'research'),
      pipeline(),
      { role: 'phase', phase: 'architecture' },
    ],
    [
      'in a phase that is gone',
      [],
      { phase: 'gone' },
      null,
      pipeline(),
      { role: null, phase: 'gone', why: 'phase_unknown' },
    ],
  ] as const)('%s', (_title, labels, record, claim, settings, work) => {
    expect(phaseWork({ labels: [...labels] }, record, claim, settings)).toEqual(work);
  });
});
