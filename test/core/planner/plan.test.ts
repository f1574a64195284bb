import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Plan,
  type PlanDraft,
  type PlanFacts,
  type PlanWork,
  plannedChildren,
  planProblems,
  planWork,
  type Subtask,
} from '../../../src/core/planner/plan.ts';
import { settings } from '../../fake/settings.ts';
import { runs } from '../../property-runs.ts';

const planner = { ...settings().planner, enabled: true, maxChildren: 4, maxDepth: 2 };
const labelled = { labels: ['needs-planning', 'backend'] };
const none: PlanFacts = { plan: null, partOf: null };
const child = { id: 'c', title: 't', description: '', priority: null, labels: [], blockedBy: [], identifier: null };
const plan = (changes: Partial<Plan>): PlanFacts => ({
  plan: { runId: 'r', summary: '', at: 0, depth: 1, madeAt: 1, children: [child], ...changes },
  partOf: null,
});
const partOf = (depth: number): PlanFacts => ({ plan: null, partOf: { parentId: 'p', depth, isMade: true } });

describe('the next run of an issue', () => {
  // @conforms 4.104, 4.134
  it.each<[string, { readonly labels: readonly string[] }, PlanFacts, PlanWork]>([
    ['with the label is a planner’s', labelled, none, 'planner'],
    ['without the label is an ordinary one', { labels: ['backend'] }, none, null],
    ['of a part of a plan with room in depth is a planner’s', labelled, partOf(1), 'planner'],
    ['of a part that is as deep as allowed is an ordinary one', labelled, partOf(2), null],
    ['with a stored plan that is not made is the planner’s again', labelled, plan({ madeAt: null }), 'planner'],
    ['after a plan without children is an ordinary one', labelled, plan({ children: [] }), null],
    ['after a plan that was made is that of a parent', labelled, plan({}), 'parent'],
  ])('%s', (_, issue, facts, work) => {
    expect(planWork(issue, facts, planner)).toBe(work);
  });

  it('is an ordinary one while the planner is off', () => {
    expect(planWork(labelled, none, { ...planner, enabled: false })).toBeNull();
  });

  it('is found by the label as people write it', () => {
    expect(planWork({ labels: ['big work'] }, none, { ...planner, label: ' Big Work ' })).toBe('planner');
  });
});

const task = (title: string, blockedBy: readonly number[] = [], more: Partial<Subtask> = {}): Subtask => ({
  title,
  description: `do ${title}`,
  acceptance: [`${title} works`],
  priority: null,
  blockedBy,
  needsPlanning: false,
  ...more,
});
const draft = (...subtasks: Subtask[]): PlanDraft => ({ summary: 's', subtasks });

describe('a plan', () => {
  // @conforms 4.134
  it.each<[string, PlanDraft, number, readonly unknown[]]>([
    ['without subtasks is allowed at any depth', draft(), 9, []],
    ['of two is allowed', draft(task('a'), task('b', [1])), 1, []],
    ['whose later one comes first is allowed', draft(task('a', [2]), task('b')), 1, []],
    ['of one is refused', draft(task('a')), 1, [{ code: 'too_few' }]],
    [
      'of too many is refused',
      draft(...['a', 'b', 'c', 'd', 'e'].map((name) => task(name))),
      1,
      [{ code: 'too_many', allowed: 4 }],
    ],
    ['that is too deep is refused', draft(task('a'), task('b')), 3, [{ code: 'too_deep', allowed: 2 }]],
    ['with a title twice is refused', draft(task('a'), task(' A ')), 1, [{ code: 'same_title', subtask: 2 }]],
    [
      'that waits for a number that is none is refused',
      draft(task('a'), task('b', [3])),
      1,
      [{ code: 'unknown_blocker', subtask: 2, blocker: 3 }],
    ],
    ['that waits for itself is refused', draft(task('a', [1]), task('b')), 1, [{ code: 'cycle', subtasks: [1] }]],
    [
      'in a circle is refused, with all that could never start',
      draft(task('a', [2]), task('b', [1]), task('c', [2]), task('d')),
      1,
      [{ code: 'cycle', subtasks: [1, 2, 3] }],
    ],
  ])('%s', (_, said, depth, problems) => {
    expect(planProblems(said, depth, planner)).toEqual(problems);
  });

  it('gives its children the labels of the parent that are not about planning or phases, and its priority', () => {
    const parent = {
      identifier: 'T-1',
      priority: 2,
      labels: ['needs-planning', 'backend', 'phase:ready', 'skip:research', 'needs-revision'],
    };
    const said = draft(task('a', [], { needsPlanning: true }), task('b', [1], { priority: 1 }));
    const [first, second] = plannedChildren(said, parent, { ids: ['x', 'y'], depth: 1, planner });
    expect(first).toMatchObject({ id: 'x', priority: 2, labels: ['backend', 'needs-planning'], blockedBy: [] });
    expect(second).toMatchObject({ id: 'y', priority: 1, labels: ['backend'], blockedBy: ['x'] });
    expect(first?.description).toContain('a works');
    expect(first?.description).toContain('T-1');
    // As deep as allowed: the wish to be split again is not granted.
    const deep = plannedChildren(said, parent, { ids: ['x', 'y'], depth: 2, planner });
    expect(deep[0]?.labels).toEqual(['backend']);
  });

  it('that is accepted has bounded children, each after those that it waits for, whatever agents say', () => {
    const subtasks = fc.array(fc.array(fc.integer({ min: -1, max: 7 }), { maxLength: 4 }), { maxLength: 7 });
    fc.assert(
      fc.property(subtasks, fc.integer({ min: 1, max: 3 }), (drawn, depth) => {
        const said = draft(...drawn.map((blockedBy, index) => task(`t${index}`, blockedBy)));
        if (planProblems(said, depth, planner).length > 0) return;
        const ids = drawn.map((_, index) => `id${index}`);
        const children = plannedChildren(
          said,
          { identifier: 'T-1', priority: null, labels: [] },
          { ids, depth, planner },
        );
        expect(children).toHaveLength(drawn.length);
        expect(children.length).toBeLessThanOrEqual(planner.maxChildren);
        const seen = new Set<string>();
        for (const { id, blockedBy } of children) {
          for (const blocker of blockedBy) expect(seen.has(blocker)).toBe(true);
          seen.add(id);
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
