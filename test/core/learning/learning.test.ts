import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LearnFacts, type NoLearning, whyNoLearning } from '../../../src/core/learning/learn-due.ts';
import { type Learning, learningLine, learningsFor } from '../../../src/core/learning/learning.ts';
import { afterTrial, trialResult } from '../../../src/core/learning/learning-trial.ts';
import { learningsProposal } from '../../../src/core/learning/learnings-proposal.ts';
import { type Lesson, lessonKinds, lessonsIn, lessonsText, mostLessons } from '../../../src/core/learning/lesson.ts';
import type { Task } from '../../../src/core/task/task.ts';
import { anyCharacter } from '../../any-character.ts';
import { settings } from '../../fake/settings.ts';
import { runs } from '../../property-runs.ts';

function learning(id: string, more: Partial<Learning> = {}): Learning {
  const author = { kind: 'person', name: 'ada' } as const;
  return { id, text: `Text of ${id}.`, status: 'kept', origins: [], author, createdAt: 0, changedAt: 0, ...more };
}

const ids = (all: readonly Learning[]): string[] => all.map(({ id }) => id);

describe('an issue', () => {
  it('gets the kept learnings first, then the newest, and none that is out of use', () => {
    const all = [
      learning('L1'),
      learning('L2', { createdAt: 5 }),
      ...(['faded', 'vetoed', 'replaced'] as const).map((status, at) => learning(`L${at + 3}`, { status })),
    ];
    expect(ids(learningsFor('1', all, 10_000))).toEqual(['L2', 'L1']);
  });

  it('gets a learning on trial in about half of the cases, and always the same ones', () => {
    const all = ['L1', 'L2'].map((id) => learning(id, { status: 'trial' }));
    const had = Array.from({ length: 2_000 }, (_, at) => ids(learningsFor(`issue-${at}`, all, 10_000)).join(' '));
    for (const group of ['', 'L1', 'L2', 'L1 L2']) {
      const count = had.filter((each) => each === group).length;
      expect([group, count > 400 && count < 600]).toEqual([group, true]);
    }
    expect(ids(learningsFor('issue-7', all, 10_000)).join(' ')).toBe(had[7]);
  });

  it('gets no more characters than allowed, and a shorter one where a longer one does not fit', () => {
    const some = fc.array(fc.string({ minLength: 1, maxLength: 80 }), { maxLength: 12 });
    fc.assert(
      fc.property(some, fc.nat(400), (texts, most) => {
        const all = texts.map((text, at) => learning(`L${at + 1}`, { text, createdAt: at }));
        const given = learningsFor('1', all, most);
        const chars = given.reduce((sum, each) => sum + learningLine(each).length + 1, 0);
        expect(chars).toBeLessThanOrEqual(most);
        const left = all.filter((each) => !given.includes(each));
        for (const each of left) expect(chars + learningLine(each).length + 1).toBeGreaterThan(most);
      }),
      { numRuns: runs(200) },
    );
  });

  it('reads each on one line, with its origin', () => {
    const origins = ['A-1', 'A-2', 'A-1', 'A-3', 'A-4'].map((issue) => ({ kind: 'note', issue, at: 0 }) as const);
    const line = learningLine(learning('L9', { text: 'One\n## two', origins }));
    expect(line.split('\n')).toHaveLength(1);
    for (const name of ['L9', 'A-1', 'A-2', 'A-3']) expect(line).toContain(name);
    expect(line).not.toContain('A-4');
  });
});

describe('the trial of a learning', () => {
  const issues = (hadIt: boolean, count: number, sentBack: number) =>
    Array.from({ length: count }, (_, at) => ({ issueId: `${hadIt}-${at}`, hadIt, isSentBack: at < sentBack }));
  const decide = (
    withIt: [number, number],
    without: [number, number],
    needed = 20,
    status: 'trial' | 'kept' = 'trial',
  ) => afterTrial({ status }, trialResult([...issues(true, ...withIt), ...issues(false, ...without)]), needed);

  it.each([
    ['too few issues had it', [19, 0], [30, 9], 'trial'],
    ['too few issues did without it', [30, 0], [19, 9], 'trial'],
    ['no work came back at all', [40, 0], [40, 0], 'trial'],
    ['work came back less often with it', [20, 3], [20, 8], 'kept'],
    ['work came back as often', [20, 4], [25, 5], 'faded'],
    ['work came back more often', [22, 9], [20, 2], 'faded'],
  ] as const)('where %s', (_what, withIt, without, expected) => {
    expect(decide([...withIt], [...without])).toBe(expected);
  });

  it('is over at once where none is wanted, and nothing happens to one that is not on trial', () => {
    expect([decide([0, 0], [0, 0], 0), decide([20, 9], [20, 0], 20, 'kept')]).toEqual(['kept', null]);
  });
});

describe('lessons', () => {
  const lesson = fc.record({
    kind: fc.constantFrom(...lessonKinds),
    issue: fc.string(),
    at: fc.nat(1_000_000),
    by: fc.string(),
    words: fc.string({ unit: anyCharacter, maxLength: 200 }),
  });

  it('are read from the text of a task as they were written, one a line, the latest ones in their order', () => {
    fc.assert(
      fc.property(fc.array(lesson, { maxLength: mostLessons + 20 }), (all) => {
        const text = lessonsText(all);
        const found = [...lessonsIn(text)];
        expect(found.map(([number]) => number)).toEqual(found.map((_, at) => at + 1));
        expect(found.map(([, each]) => each)).toEqual(
          all.toSorted((one, other) => one.at - other.at).slice(-mostLessons),
        );
        if (found.length > 0) expect(text.split('\n')).toHaveLength(found.length);
      }),
      { numRuns: runs(200) },
    );
  });

  it('with long words are cut', () => {
    const long: Lesson = { kind: 'note', issue: 'A', at: 0, by: 'ada', words: 'x'.repeat(100_000) };
    expect(lessonsText(Array.from({ length: 500 }, () => long)).length).toBeLessThan(100_000);
  });
});

describe('the proposal of a learner', () => {
  const text = lessonsText([{ kind: 'check', issue: 'A-1', at: 7, by: 'baton', words: 'red' }]);

  it('has the origins of the lines that it names', () => {
    const said = [{ text: 'Run the tests first.', from: [1, 1], replaces: ['l2'] }];
    expect(learningsProposal(said, text, [learning('L2')])).toEqual({
      kind: 'learnings',
      learnings: [
        {
          ...{ text: 'Run the tests first.', replaces: ['L2'], decision: 'open', learning: null },
          origins: [{ kind: 'check', issue: 'A-1', at: 7 }],
        },
      ],
    });
  });

  it('names what does not exist, and leaves out what is said already', () => {
    const said = { text: 'Text of L2.', from: [1], replaces: [] };
    expect(learningsProposal([{ ...said, from: [1, 9], replaces: ['L7'] }], text, [])).toEqual({
      unknown: ['9', 'L7'],
    });
    expect(learningsProposal([said, said], text, [learning('L2')])).toMatchObject({ learnings: [] });
    expect(learningsProposal([said, said], text, [])).toMatchObject({ learnings: [{ text: 'Text of L2.' }] });
  });
});

describe('a run of the learner', () => {
  const base = settings();
  const on = { learner: { ...base.learner, enabled: true } };
  const now = 1_000 * base.learner.cooldownMs;
  const due: LearnFacts = { now, budget: 'free', tasks: [], isReady: true, lessons: 5 };
  const task = (status: Task['status'], changedAt: number): Task => ({
    ...{ id: 'learn:1', kind: 'learn', title: '', text: '', status, proposal: null, error: null },
    ...{ author: { kind: 'orchestrator' }, createdAt: changedAt, changedAt },
  });

  it.each<readonly [NoLearning | null, typeof on, Partial<LearnFacts>]>([
    [null, on, {}],
    ['off', { learner: base.learner }, {}],
    ['unlimited', on, { budget: 'none' }],
    ['budget_used', on, { budget: 'used' }],
    ['undecided', on, { tasks: [task('waiting', 0)] }],
    ['cooldown', on, { tasks: [task('failed', now - 1)] }],
    [null, on, { tasks: [task('refused', now - base.learner.cooldownMs)] }],
    ['not_ready', on, { isReady: false }],
    ['too_little', on, { lessons: 4 }],
    ['too_little', { learner: { ...on.learner, minLessons: 0 } }, { lessons: 0 }],
  ])('is %s', (expected, wanted, facts) => {
    expect(whyNoLearning(wanted, { ...due, ...facts })).toBe(expected);
  });
});
