import { describe, expect, it } from 'vitest';
import {
  type Finding,
  goesBack,
  judgeState,
  judgeWords,
  sentBackBy,
  type Verdict,
} from '../../../src/core/pull/judge.ts';
import type { ChecksVerdict, PullRequest, PullRound, SentBackKind } from '../../../src/core/pull/pull-request.ts';
import type { JudgeSettings } from '../../../src/core/settings.ts';
import { settings } from '../../fake/settings.ts';

const by = { kind: 'orchestrator' } as const;
const pull: PullRequest = {
  ...{ project: 'p', number: 1, issueId: '1', identifier: 'T-1', title: '', body: '', host: 'local', hostNumber: null },
  ...{ url: null, repository: '/r', branch: 'b', base: 'main', baseCommit: 'base', headCommit: 'head', openedAt: 0 },
  ...{ openedBy: by, standingSince: 0, movedAt: 1, sentBack: null, timesSentBack: 0, approved: null, merged: null },
  closed: null,
};
const finding: Finding = { file: 'a.ts', line: 3, severity: 'must', problem: 'It is wrong.', wanted: 'Make it right.' };

type Said = 'a' | 'r';

/** What the judges of a commit said, in their order: `a` approved, `r` rejected. */
function verdicts(said: readonly Said[], commit = 'head', findings: readonly Finding[] = [finding]): Verdict[] {
  return said.map((word, place) => ({
    ...{ commit, place, runId: `${commit}-${place}`, agent: 'x', promptVersion: 'v', at: 0, hostId: null, summary: '' },
    ...(word === 'a' ? { verdict: 'approved', findings: [] } : { verdict: 'rejected', findings }),
  }));
}

function state(
  said: readonly Verdict[],
  judge: Partial<JudgeSettings> = {},
  { checks = 'none' as ChecksVerdict, of = {} as Partial<PullRequest> } = {},
) {
  return judgeState({ ...pull, ...of }, said, checks, { ...settings().judge, agents: ['one', 'two'], ...judge });
}

describe('several judges', () => {
  const wanted = (place: number, agent: string) => ({ status: 'wanted', place, agent });
  const decided = (status: 'approved' | 'rejected', isDivided = false) => ({ status, isDivided });

  // @conforms judge.7
  it.each([
    [1, 'any_reject', '', wanted(0, 'one')],
    [1, 'any_reject', 'a', decided('approved')],
    [1, 'any_reject', 'r', decided('rejected')],
    [2, 'any_reject', 'a', wanted(1, 'two')],
    [2, 'any_reject', 'aa', decided('approved')],
    [2, 'any_reject', 'ar', decided('rejected', true)],
    [2, 'any_reject', 'r', decided('rejected')],
    [3, 'any_reject', 'aa', wanted(2, 'one')],
    [3, 'any_reject', 'aar', decided('rejected', true)],
    [2, 'majority', 'a', wanted(1, 'two')],
    [2, 'majority', 'ar', decided('rejected', true)],
    [3, 'majority', 'r', wanted(1, 'two')],
    [3, 'majority', 'aa', decided('approved')],
    [3, 'majority', 'ar', wanted(2, 'one')],
    [3, 'majority', 'ara', decided('approved', true)],
    [3, 'majority', 'arr', decided('rejected', true)],
    [3, 'majority', 'rr', decided('rejected')],
    [4, 'majority', 'arr', decided('rejected', true)],
    [5, 'majority', 'raa', wanted(3, 'two')],
    [5, 'majority', 'raaa', decided('approved', true)],
  ] as const)('%i by %s that said "%s"', (count, decides, said, expected) => {
    const all = verdicts([...said] as Said[]);
    expect(state(all, { count, decides })).toEqual(expected);
    // Verdicts about another commit count for nothing.
    expect(state([...verdicts(['r', 'r', 'a'], 'earlier'), ...all], { count, decides })).toEqual(expected);
  });

  it('are said to disagree only when they do', () => {
    const all = ['aa', 'ar', 'ra', 'rr', 'a', ''].map((said) => judgeWords('approved', verdicts([...said] as Said[])));
    expect(new Set(all).size).toBe(2);
    expect([all[1], all[2]]).toEqual([all[1], all[1]]);
    expect(all.filter((words) => words === all[0])).toHaveLength(4);
  });

  it('do not give the verdict of a place that has one again', () => {
    const [, second] = verdicts(['r', 'a']);
    expect(state(second === undefined ? [] : [second], { count: 3, decides: 'majority' })).toEqual(wanted(0, 'one'));
  });
});

describe('a change', () => {
  it.each([
    ['without a judge', { judge: { agents: [] } }, null],
    ['whose checks run', { checks: 'waiting' }, { status: 'waits' }],
    ['whose issue is being moved', { of: { movedAt: null } }, { status: 'waits' }],
    ['with a red check', { checks: 'red' }, null],
    ['with green checks', { checks: 'green' }, { status: 'wanted' }],
    ['with skipped checks', { checks: 'incomplete' }, { status: 'wanted' }],
    ['that was sent back', { of: { sentBack: { at: 1, by, kind: 'check' } } }, null],
    ['that a person approved', { of: { approved: { at: 1, by, commit: 'head' } } }, null],
    ['that is merged', { of: { merged: { at: 1, by, commit: 'm', method: null } } }, null],
    ['that is closed', { of: { closed: { at: 1, by } } }, null],
  ] as const)('%s', (_title, { judge = {}, ...facts }: Parameters<typeof given>[0], expected) => {
    const found = state([], judge, facts);
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatchObject(expected);
  });
});

/** Types the rows of the table above. */
function given(row: { judge?: Partial<JudgeSettings>; checks?: ChecksVerdict; of?: Partial<PullRequest> }) {
  return row;
}

/** Rounds that were sent back for these reasons; null: it was replaced by a newer commit. */
function rounds(...kinds: (SentBackKind | null)[]): PullRound[] {
  return kinds.map((kind, at) => ({
    ...{ round: at + 1, headCommit: `commit-${at}`, baseCommit: 'base', at, runId: null },
    sentBack: kind === null ? null : { at, by, kind },
  }));
}

describe('a rejected change', () => {
  // @conforms judge.8
  it.each([
    ['the first time', [], [], true],
    ['after fewer rounds than allowed', ['judge', 'judge'], [], true],
    ['after all rounds of the judge', ['judge', 'judge', 'judge'], [], false],
    ['after as many rounds of checks and reviewers', ['check', 'review', 'conflict', 'check'], [], true],
    ['after all rounds, of which a person sent one back since', ['judge', 'judge', 'judge', 'person'], [], true],
    ['after all rounds, and a person moved its issue since', ['judge', 'judge', 'judge', 'moved'], [], true],
    ['after all rounds again', ['person', 'judge', 'judge', 'judge'], [], false],
    ['with a finding of an earlier commit', ['judge'], [{ ...finding, line: 9, problem: ' it IS  wrong.' }], false],
    ['with another finding in the same file', ['judge'], [{ ...finding, problem: 'Something else.' }], true],
    ['with the same words about another file', ['judge'], [{ ...finding, file: 'b.ts' }], true],
  ] as const)('goes back to its agent, or waits for a person: %s', (_title, kinds, earlier, isSent) => {
    const said = [...verdicts(['r'], 'earlier', earlier), ...verdicts(['r'])];
    expect(goesBack('head', said, rounds(...kinds), { maxRounds: 3 })).toBe(isSent);
  });

  it('goes back when two judges of the same commit found the same', () => {
    expect(goesBack('head', verdicts(['r', 'r']), [], { maxRounds: 3 })).toBe(true);
  });

  // @conforms judge.8
  it('has rounds of its judge, and others that are counted apart; a person resets both', () => {
    const all = rounds('check', 'judge', null, 'review', 'judge', 'judge');
    const counts = (given: readonly PullRound[]) => [
      sentBackBy(given, ['judge']),
      sentBackBy(given, ['check', 'review']),
    ];
    expect(counts(all)).toEqual([3, 2]);
    expect(counts([...all, ...rounds('person')])).toEqual([0, 0]);
    expect(counts([...all, ...rounds('person', 'judge')])).toEqual([1, 0]);
  });
});
