import { describe, expect, it } from 'vitest';
import { noPressure } from '../../../src/core/requests/request-pressure.ts';
import type { PullFacts, PullRequests } from '../../../src/pulls/pull-requests.ts';
import { pipeline } from '../../core/pipeline/phase.ts';
import { fakePulls } from '../../fake/fake-pulls.ts';
import { issue } from '../../fake/issues.ts';
import { commit, finding, inReviewMode, judged, judging, minute, revise, roles, say } from './review-scene.ts';

const person = { kind: 'person', name: 'me' } as const;

/** A remote host that last read these facts about every pull request. */
function hostWith(facts: Partial<PullFacts>) {
  const host = fakePulls(() => 'commit-1');
  const remote = {
    ...{ pressure: () => noPressure, fetchBase: async () => 'main', explainCheck: async () => null },
    ...{ sayVerdict: async () => '1', lastRead: () => facts as PullFacts },
  };
  return (): PullRequests => ({ ...host.as, remote });
}

// @conforms judge.9
describe('the judge of a change gets', () => {
  it.each([
    ['the checks of the host for its commit', 'commit-1', ['ci']],
    ['no checks of the host for another commit', 'commit-0', []],
  ])('%s', async (_what, headCommit, names) => {
    const checks = [{ id: 1, name: 'ci', result: 'passed', isRequired: true, url: null }] as const;
    const stage = await judged(judging(), { pullsFor: hostWith({ headCommit, checks, reviews: [] }) });
    expect(stage.runs[1]?.request.judged?.checks.map(({ name }) => name)).toEqual(names);
  });

  it('the artifacts of the phases before, the newest version of each, in their order', async () => {
    const settings = { ...judging(), pipeline: pipeline() };
    const stage = await inReviewMode({ settings }, issue({ id: '1', labels: ['phase:ready'] }));
    const key = { project: stage.project, issueId: '1' };
    for (const [at, [phase, text]] of [
      ['grooming', 'the steps'],
      ['research', 'old facts'],
      ['research', 'facts'],
    ].entries())
      await stage.store.artifacts.add(key, { phase: phase ?? '', text: text ?? '', author: person, at });
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(minute);
    expect(roles(stage)).toEqual(['worker', 'judge']);
    expect(stage.runs[1]?.request.judged?.artifacts).toEqual([
      { phase: 'research', text: 'facts' },
      { phase: 'grooming', text: 'the steps' },
    ]);
  });

  it('the earlier rounds, with what became of each and what people said', async () => {
    const stage = await judged();
    say(stage.runs[1], [finding]);
    await stage.clock.advance(minute);
    await revise(stage, 2);
    say(stage.runs[3]);
    await stage.clock.advance(minute);
    const words = { pull: 1, head: 'commit-2', note: 'Say it in another way.' };
    expect(await stage.command('pr_send_back', words)).toMatchObject({ status: 'done' });
    await stage.clock.advance(minute);
    await revise(stage, 3);
    const { rounds, verdicts } = stage.runs[5]?.request.judged ?? {};
    expect(rounds).toMatchObject([
      { headCommit: 'commit-1', sentBack: { kind: 'judge' }, words: [] },
      { headCommit: 'commit-2', sentBack: { kind: 'person' }, words: ['Say it in another way.'] },
      { headCommit: 'commit-3', sentBack: null, words: [] },
    ]);
    expect(verdicts?.map((each) => [each.commit, each.verdict])).toEqual([
      ['commit-1', 'rejected'],
      ['commit-2', 'approved'],
    ]);
  });
});
