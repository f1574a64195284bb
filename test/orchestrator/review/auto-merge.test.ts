import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { checkResults, type PullRequest } from '../../../src/core/pull/pull-request.ts';
import type { Settings } from '../../../src/core/settings.ts';
import type { HostReview } from '../../../src/pulls/pull-requests.ts';
import { issue } from '../../fake/issues.ts';
import { commit, hour, inReviewMode, minute, reviewed } from './review-scene.ts';

const check = { name: 'test', run: 'npm test', timeoutMs: null };

function merging(review: Partial<Settings['review']> = {}): Settings {
  return {
    ...reviewed,
    agent: { ...reviewed.agent, stallTimeoutMs: 0 },
    tracker: { ...reviewed.tracker, states: { ...reviewed.tracker.states, done: 'Done' } },
    review: { ...reviewed.review, checks: [check], autoMerge: ['docs'], ...review },
    judge: { ...reviewed.judge, agents: ['default'] },
  };
}

/** A change with green checks stands in review, and its judge runs. */
async function judged(settings = merging(), labels: readonly string[] = ['docs']) {
  const stage = await inReviewMode(
    {
      settings,
      runChecks: async (_settings, pulls) => {
        for (const pull of pulls) await end(pull, 'passed');
      },
    },
    issue({ id: '1', labels }),
  );
  const { checks } = stage.store;
  const end = async (pull: PullRequest, result: 'passed' | 'failed') => {
    await checks.plan(pull, pull.headCommit, [{ name: check.name, command: check.run }]);
    await checks.again(pull, pull.headCommit, { name: check.name, command: check.run }, checkResults);
    await checks.end(pull, pull.headCommit, check.name, { at: 1, result, exitCode: null, output: '' });
  };
  commit(stage.runs[0], 'commit-1');
  await stage.clock.advance(minute);
  expect(stage.runs[1]?.request.judged).toMatchObject({ commit: 'commit-1' });
  const approve = async () => {
    stage.runs[1]?.request.report({
      kind: 'opinion',
      opinion: { verdict: 'approved', summary: 'Good.', findings: [] },
    });
    stage.runs[1]?.request.report({ kind: 'changed', changed: false, facts: null });
    stage.runs[1]?.succeed();
    await stage.clock.advance(minute);
  };
  const first = async () => {
    const [pull] = await stage.allPulls();
    if (pull === undefined) throw new Error('no pull request');
    return pull;
  };
  const state = () => stage.orchestrator.read().pulls.get('1')?.autoMerge;
  return { ...stage, approve, first, state, end };
}

const outcome = async (stage: Awaited<ReturnType<typeof judged>>) => [
  stage.pulls.merges.length,
  (await stage.first()).merged !== null,
  await stage.stateNow(),
];
const untouched = [0, false, 'In Review'];

describe('a change of an issue with a label of `review.auto_merge`', () => {
  // @conforms judge.1
  it('is merged by Baton when its judge has approved it, and its issue is done', async () => {
    const stage = await judged();
    expect(stage.state()).toEqual({ isReady: false, objection: 'not_approved' });
    await stage.approve();
    expect(await outcome(stage)).toEqual([1, true, 'Done']);
    expect(stage.pulls.merges).toMatchObject([{ headCommit: 'commit-1', baseCommit: 'base-1', method: 'merge' }]);
    expect(await stage.first()).toMatchObject({ merged: { by: { kind: 'orchestrator' }, commit: 'merge-1' } });
    await stage.clock.advance(hour);
    expect(stage.pulls.merges).toHaveLength(1);
  });

  it.each([
    ['no label of its issue asks for it', merging(), ['bug']],
    ['the settings name no label', merging({ autoMerge: [] }), ['docs']],
  ])('waits for a person when %s', async (_why, settings, labels) => {
    const stage = await judged(settings, labels);
    await stage.approve();
    await stage.clock.advance(hour);
    expect([await outcome(stage), stage.state()]).toEqual([untouched, null]);
  });

  // @conforms judge.2
  it.each<readonly [string, (stage: Awaited<ReturnType<typeof judged>>) => void | Promise<void>, string]>([
    [
      'the base moves',
      ({ pulls }) => {
        pulls.answers.facts = { baseCommit: 'base-2' };
      },
      'base_moved',
    ],
    [
      'the branch moves',
      ({ pulls }) => {
        pulls.answers.facts = { headCommit: 'commit-9' };
      },
      'head_moved',
    ],
    [
      'the record has another commit, which no verdict is about',
      async ({ store, first }) => {
        const head = { headCommit: 'commit-9', baseCommit: 'base-1', at: 1, runId: null };
        await store.pullRequests.stand(await first(), head);
      },
      'head_moved',
    ],
    ['a check turns red', async ({ end, first }) => end(await first(), 'failed'), 'checks_not_green'],
    [
      'a check of the host turns red',
      ({ pulls }) => {
        const red = { id: null, name: 'ci', result: 'failed', isRequired: false, url: null } as const;
        pulls.answers.facts = { checks: [red] };
      },
      'checks_not_green',
    ],
    [
      'a reviewer at the host asks for changes',
      ({ pulls }) => {
        const said = { author: 'ada', isTrusted: true, body: 'No.', commit: 'commit-1', path: null, line: null, at: 1 };
        pulls.answers.facts = { reviews: [{ ...said, id: 'r', reviewId: 'r', verdict: 'changes_requested' }] };
      },
      'changes_requested',
    ],
    [
      'a reviewer still asks for changes of an earlier commit, and another took that back',
      ({ pulls }) => {
        const said = { isTrusted: true, body: 'No.', commit: 'commit-0', path: null, line: null, at: 1 };
        const by = (author: string, verdict: HostReview['verdict'], id: string): HostReview => ({
          ...said,
          ...{ author, verdict, id, reviewId: id },
        });
        const reviews = [
          by('bob', 'changes_requested', 'r1'),
          by('bob', 'approved', 'r2'),
          by('ada', 'changes_requested', 'r3'),
        ];
        pulls.answers.facts = { reviews };
      },
      'changes_requested',
    ],
    [
      'a person sends it back',
      async ({ store, first }) => {
        const by = { kind: 'person', name: 'me' } as const;
        await store.pullRequests.sendBack(await first(), 'commit-1', { at: 1, by, kind: 'person' });
      },
      'not_in_review',
    ],
    ['its label is removed', ({ tracker }) => tracker.put(issue({ id: '1', state: 'In Review' })), 'not_in_review'],
    ['its issue leaves review', ({ tracker }) => tracker.put(issue({ id: '1', labels: ['docs'] })), 'not_in_review'],
    ['Baton is paused', async ({ command }) => void (await command('pause')), 'not_in_review'],
    [
      'the settings stop asking for it',
      ({ file }) => {
        file.settings = merging({ autoMerge: ['other'] });
      },
      'not_in_review',
    ],
  ])('is not merged when, between the decision and the merge, %s', async (_what, race, objection) => {
    const stage = await judged();
    let isRaced = false;
    stage.pulls.answers.beforeMerge = async () => {
      if (isRaced) return;
      isRaced = true;
      await race(stage);
    };
    await stage.approve();
    expect([isRaced, stage.pulls.merges, (await stage.first()).merged]).toEqual([true, [], null]);
    expect(stage.logger.lines.filter(({ event }) => event === 'change_not_merged')).toMatchObject([
      { fields: { objection } },
    ]);
  });

  it('is not merged when it changes files that control agents, and people hear of it', async () => {
    const stage = await inReviewMode(
      {
        settings: { ...merging(), judge: reviewed.judge },
        runChecks: async (_settings, pulls) => {
          for (const pull of pulls) {
            await stage.store.checks.plan(pull, pull.headCommit, [{ name: check.name, command: check.run }]);
            const passed = { at: 1, result: 'passed', exitCode: 0, output: '' } as const;
            await stage.store.checks.end(pull, pull.headCommit, check.name, passed);
          }
        },
      },
      issue({ id: '1', labels: ['docs'] }),
    );
    commit(stage.runs[0], 'commit-1', { governing: ['AGENTS.md'] });
    await stage.clock.advance(minute);
    await stage.command('pr_approve', { pull: 1, head: 'commit-1' });
    await stage.clock.advance(10 * minute);
    expect([stage.pulls.merges, stage.orchestrator.read().pulls.get('1')?.autoMerge]).toEqual([
      [],
      { isReady: true, objection: 'governing_files' },
    ]);
  });

  it('is tried again a minute after its host failed', async () => {
    const stage = await judged();
    let tries = 0;
    stage.pulls.answers.beforeMerge = () => {
      tries += 1;
      if (tries === 1) throw new BatonError('tracker_request', 'no answer');
    };
    await stage.approve();
    expect(stage.state()).toEqual({ isReady: true, objection: 'tracker_request' });
    await stage.clock.advance(2 * minute);
    expect([tries, await outcome(stage)]).toEqual([2, [1, true, 'Done']]);
  });
});
