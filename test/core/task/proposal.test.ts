import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { descriptionOf, issuesProposal, likeness, type SaidIssue } from '../../../src/core/task/proposal.ts';

function said(title: string, more: Partial<SaidIssue> = {}): SaidIssue {
  return { title, description: '', criteria: [], priority: null, labels: [], duplicateOf: null, ...more };
}

const open = [
  { identifier: 'BAT-1', title: 'Add a dark theme to the settings page' },
  { identifier: 'BAT-2', title: 'Fix the login on Safari' },
];

describe('a proposal of issues', () => {
  it('names the open issue that asks for the same, by the word of the agent or by the title', () => {
    const { issues } = issuesProposal(
      [
        said('Dark mode', { duplicateOf: ' bat-1 ' }),
        said('Fix login on Safari'),
        said('Write a manual', { duplicateOf: 'BAT-99' }),
      ],
      open,
    );
    expect(issues.map(({ duplicateOf }) => duplicateOf?.identifier ?? null)).toEqual(['BAT-1', 'BAT-2', null]);
    expect(issues.every(({ decision, issue }) => decision === 'open' && issue === null)).toBe(true);
  });

  it('keeps the first of two proposals with the same title', () => {
    const { issues } = issuesProposal([said('Add a list', { priority: 2 }), said('  add A list.')], []);
    expect(issues).toMatchObject([{ title: 'Add a list', priority: 2 }]);
  });

  it('never has more issues than were said, and none twice', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 })), fc.array(fc.string()), (titles, others) => {
        const known = others.map((title, at) => ({ identifier: `X-${at}`, title }));
        const { issues } = issuesProposal(
          titles.map((title) => said(title)),
          known,
        );
        expect(issues.length).toBeLessThanOrEqual(titles.length);
        for (const one of issues)
          for (const other of issues) if (one !== other) expect(likeness(one.title, other.title)).toBeLessThan(1);
      }),
    );
  });

  it('becomes a description with its criteria', () => {
    expect(descriptionOf({ description: 'Why.', criteria: ['It works.', 'It is fast.'] })).toBe(
      'Why.\n\nAcceptance criteria:\n\n- It works.\n- It is fast.',
    );
    expect(descriptionOf({ description: 'Why.', criteria: [] })).toBe('Why.');
  });
});

describe('the likeness of two texts', () => {
  it('is the same in both directions, and between 0 and 1', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const share = likeness(one, other);
        expect(share).toBe(likeness(other, one));
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(1);
      }),
    );
  });
});
