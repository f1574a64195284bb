import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { MergeRequest, MergeResult, PullFacts, PullRequests } from '../../../src/pulls/pull-requests.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { pullDraft } from '../../store/pull-draft.ts';
import { scene } from '../scene.ts';

const states = { todo: 'Todo', inProgress: null, review: 'In Review', blocked: null, done: 'Done' };

const usual = settings({ intervalMs: 3_600_000, tracker: { states, reviewStates: ['In Review'] } });
type ReviewChecks = typeof usual.review.checks;

/** An issue in review with an open pull request; the host merges as `merge` says. */
async function inReview(
  merge: (request: MergeRequest) => MergeResult = merged,
  checks: ReviewChecks = [],
  facts: Partial<PullFacts> = {},
) {
  const requests: MergeRequest[] = [];
  const host = {
    host: 'somewhere',
    read: async (): Promise<readonly PullFacts[]> => [{ baseCommit: 'base-2', ...facts } as PullFacts],
    merge: async (_pull, request) => {
      requests.push(request);
      return merge(request);
    },
    close: async () => {},
  } satisfies Partial<PullRequests>;
  const stage = await scene({
    settings: { ...usual, review: { ...usual.review, checks } },
    issues: [issue({ id: '1', state: 'In Review' })],
    pullsFor: () => host as unknown as PullRequests,
  });
  const pull = await stage.store.pullRequests.open(pullDraft('1', { project: stage.project }));
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const read = () => stage.store.pullRequests.read(pull);
  const stateNow = async () => (await stage.tracker.fetchByIds(['1']))[0]?.state;
  return { ...stage, pull, requests, read, stateNow };
}

function merged(): MergeResult {
  return { outcome: 'merged', commit: 'merge-1', method: 'merge' };
}

const person = { kind: 'person', name: 'me' };
const seen = { pull: 1, head: 'head-1' };

describe('a person who merges a change', () => {
  it('finishes its issue in their own name, once', async () => {
    const stage = await inReview();
    expect(await stage.command('pr_merge', seen)).toMatchObject({ code: 'change_merged', data: { commit: 'merge-1' } });
    expect(stage.requests).toMatchObject([{ headCommit: 'head-1', baseCommit: 'base-2', method: 'merge', by: person }]);
    expect(await stage.read()).toMatchObject({ merged: { by: person, commit: 'merge-1' } });
    expect(await stage.stateNow()).toBe('Done');
    expect(await stage.command('pr_merge', seen)).toMatchObject({ status: 'done', code: 'change_merged' });
    expect(stage.requests).toHaveLength(1);
  });

  it.each([
    { code: 'conflict', files: ['a.txt'] },
    { code: 'base_moved', baseCommit: 'base-3' },
    { code: 'checked_out', folder: '/home/me/repo', commit: 'merge-1' },
    { code: 'no_identity' },
  ] as const)('gets the facts of a refusal ($code), and nothing changes', async (refusal) => {
    const stage = await inReview(() => ({ outcome: 'refused', refusal }));
    const { code, ...facts } = refusal;
    expect(await stage.command('pr_merge', seen)).toMatchObject({
      status: 'refused',
      code: 'not_merged',
      data: { problem: code, ...facts },
    });
    expect([await stage.stateNow(), (await stage.read())?.merged]).toEqual(['In Review', null]);
  });

  it('is refused while a check is not green, unless they say otherwise', async () => {
    const stage = await inReview();
    const { checks } = stage.store;
    await checks.plan(stage.pull, 'head-1', [{ name: 'test', command: 'npm test' }]);
    const refusal = { code: 'not_merged', data: { problem: 'checks_not_green' } };
    expect(await stage.command('pr_merge', seen)).toMatchObject({ ...refusal, data: { verdict: 'waiting' } });
    await checks.end(stage.pull, 'head-1', 'test', { at: 1, result: 'skipped', exitCode: null, output: '' });
    // Skipped is not green.
    expect(await stage.command('pr_merge', seen)).toMatchObject({ ...refusal, data: { verdict: 'incomplete' } });
    expect(await stage.command('pr_merge', { ...seen, ignores_checks: true })).toMatchObject({ code: 'change_merged' });
  });

  it('is refused while its host requires a check that has not passed, whatever they say', async () => {
    const check = { id: 1, name: 'ci', result: null, isRequired: true, url: null };
    const stage = await inReview(merged, [], { headCommit: 'head-1', checks: [check] });
    for (const ignores_checks of [false, true])
      expect(await stage.command('pr_merge', { ...seen, ignores_checks })).toMatchObject({
        code: 'not_merged',
        data: { problem: 'checks_missing', names: ['ci'] },
      });
    expect(stage.requests).toEqual([]);
  });

  it('is refused while a check that the file wants is not even planned', async () => {
    const stage = await inReview(merged, [{ name: 'test', run: 'npm test', timeoutMs: null }]);
    expect(await stage.command('pr_merge', seen)).toMatchObject({
      code: 'not_merged',
      data: { problem: 'checks_not_green', verdict: 'waiting' },
    });
    expect(stage.requests).toEqual([]);
  });

  it('keeps the pull request open while the tracker cannot be reached, so that the merge is found again', async () => {
    const stage = await inReview();
    stage.tracker.changes.moveIssue = async () => {
      throw new BatonError('tracker_request', 'no answer');
    };
    await stage.command('pr_merge', seen);
    expect((await stage.read())?.merged).toBeNull();
  });
});

describe('a person who runs checks again', () => {
  const wanted = ['lint', 'test', 'build'].map((name) => ({ name, run: `npm run ${name}`, timeoutMs: null }));

  async function checked() {
    const stage = await inReview(merged, wanted);
    const { checks } = stage.store;
    const planned = wanted.map(({ name }) => ({ name, command: `old ${name}` }));
    await checks.plan(stage.pull, 'head-1', planned);
    for (const [name, result] of [
      ['lint', 'passed'],
      ['test', 'failed'],
      ['build', 'skipped'],
    ] as const)
      await checks.end(stage.pull, 'head-1', name, { at: 1, result, exitCode: null, output: '' });
    const results = async () =>
      (await checks.list(stage.pull, 'head-1')).map(({ name, result, command }) => [name, result, command]);
    return { ...stage, results };
  }

  it('gets those that have not passed, on the same commit and with the command of the file', async () => {
    const stage = await checked();
    expect(await stage.command('pr_check', seen)).toMatchObject({
      code: 'checks_again',
      data: { checks: ['test', 'build'] },
    });
    expect(await stage.results()).toEqual([
      ['lint', 'passed', 'old lint'],
      ['test', null, 'npm run test'],
      ['build', null, 'npm run build'],
    ]);
  });

  it('gets one by its name, also one that has passed, and no other', async () => {
    const stage = await checked();
    expect(await stage.command('pr_check', { ...seen, name: 'lint' })).toMatchObject({ data: { checks: ['lint'] } });
    expect((await stage.results()).map(([, result]) => result)).toEqual([null, 'failed', 'skipped']);
  });

  it('is refused for a check that is not wanted, another commit, a change that was sent back, and nothing to do', async () => {
    const stage = await checked();
    expect(await stage.command('pr_check', { ...seen, name: 'deploy' })).toMatchObject({
      code: 'check_not_found',
      data: { checks: ['lint', 'test', 'build'] },
    });
    expect(await stage.command('pr_check', { ...seen, head: 'head-0' })).toMatchObject({ code: 'head_moved' });
    await stage.store.pullRequests.sendBack(stage.pull, 'head-1', {
      at: 1,
      by: { kind: 'orchestrator' },
      kind: 'check',
    });
    expect(await stage.command('pr_check', seen)).toMatchObject({ code: 'change_sent_back_before' });
    const without = await inReview();
    expect(await without.command('pr_check', seen)).toMatchObject({ code: 'nothing_to_check' });
  });
});

describe('a person who sends a change back', () => {
  it('has their words in the store before the issue is active again', async () => {
    const stage = await inReview();
    const before: unknown[] = [];
    const move = stage.tracker.changes.moveIssue.bind(stage.tracker.changes);
    stage.tracker.changes.moveIssue = async (...given) => {
      before.push(await stage.store.messages.waiting({ project: stage.project, issueId: '1' }, 10));
      return move(...given);
    };
    const comments = [{ path: 'src/a.ts', line: 7, text: 'Why twice?' }];
    expect(await stage.command('pr_send_back', { ...seen, note: 'Not yet.', comments })).toMatchObject({
      code: 'change_sent_back',
    });
    expect(before).toMatchObject([
      [
        { kind: 'note', body: 'Not yet.', author: person, commit: 'head-1' },
        { kind: 'review_comment', body: 'Why twice?', path: 'src/a.ts', line: 7, commit: 'head-1' },
      ],
    ]);
    expect(await stage.read()).toMatchObject({ sentBack: { kind: 'person', by: person }, timesSentBack: 1 });
    await stage.clock.advance(5_000);
    expect(stage.runs[0]?.request.messages.map(({ body }) => body)).toEqual(['Not yet.', 'Why twice?']);
  });
});

describe('every decision', () => {
  it.each(['pr_approve', 'pr_merge', 'pr_send_back'])(
    '%s is refused for a commit that stands no more',
    async (kind) => {
      const stage = await inReview();
      const other = { ...seen, head: 'head-0', note: 'x' };
      expect(await stage.command(kind, other)).toMatchObject({ status: 'refused', code: 'head_moved' });
      expect(await stage.read()).toMatchObject({ approved: null, sentBack: null, merged: null });
    },
  );

  it('is refused about a pull request that is not there, and about one that has ended', async () => {
    const stage = await inReview();
    expect(await stage.command('pr_approve', { ...seen, pull: 9 })).toMatchObject({ code: 'pull_not_found' });
    expect(await stage.command('pr_close', { pull: 1 })).toMatchObject({ code: 'change_closed' });
    expect(await stage.stateNow()).toBe('In Review');
    expect(await stage.command('pr_close', { pull: 1 })).toMatchObject({ status: 'done', code: 'change_closed' });
    for (const kind of ['pr_approve', 'pr_merge', 'pr_send_back'])
      expect(await stage.command(kind, { ...seen, note: 'x' })).toMatchObject({ code: 'pull_ended' });
  });

  it('approves a head, which lapses with the next one', async () => {
    const stage = await inReview();
    expect(await stage.command('pr_approve', seen)).toMatchObject({ code: 'change_approved' });
    expect(await stage.read()).toMatchObject({ approved: { by: person, commit: 'head-1' } });
    await stage.store.pullRequests.stand(stage.pull, { headCommit: 'head-2', baseCommit: 'b', at: 2, runId: null });
    expect((await stage.read())?.approved).toBeNull();
  });
});
