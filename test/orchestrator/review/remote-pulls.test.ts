import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { HostReview, PullFacts } from '../../../src/pulls/pull-requests.ts';
import { fakePulls } from '../../fake/fake-pulls.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { pullDraft } from '../../store/pull-draft.ts';
import { type SceneOptions, scene } from '../scene.ts';

const wanted = {
  ...settings({
    intervalMs: 30_000,
    tracker: {
      states: { todo: 'Todo', inProgress: null, review: 'In Review', blocked: null, done: 'Done' },
      reviewStates: ['In Review'],
    },
  }),
  review: { ...settings().review, maxRounds: 2 },
};

/** Issues in review at a host where reading costs requests. */
async function inReview(count = 1, options: SceneOptions = {}) {
  const pulls = fakePulls(() => 'head-1');
  const pressure = { step: 'free' as 'free' | 'closed', spacingMs: 0, until: null as number | null, text: '' };
  const reads: number[] = [];
  const readAt: number[] = [];
  const failing: { error: Error | null } = { error: null };
  const ids = Array.from({ length: count }, (_, nth) => String(nth + 1));
  const stage = await scene({
    settings: wanted,
    issues: ids.map((id) => issue({ id, identifier: `T-${id}`, state: 'In Review' })),
    pullsFor: () => ({
      ...pulls.as,
      remote: {
        pressure: () => pressure,
        lastRead: () => null,
        fetchBase: async () => 'main',
        sayVerdict: async () => '1',
        explainCheck: async ({ name }) => ({ step: `Run ${name}`, output: 'expected 1, got 2' }),
      },
      read: async (some, signal) => {
        reads.push(some.length);
        readAt.push(stage.clock.now());
        if (failing.error !== null) throw failing.error;
        return pulls.as.read(some, signal);
      },
    }),
    ...options,
  });
  for (const id of ids) {
    const draft = pullDraft(id, { project: stage.project, host: 'local', identifier: `T-${id}` });
    await stage.store.pullRequests.moved(await stage.store.pullRequests.open(draft), 'head-1', 1);
  }
  await stage.orchestrator.start();
  const key = { project: stage.project, issueId: '1' };
  return {
    ...stage,
    pulls,
    pressure,
    reads,
    readAt,
    failing,
    read: async () => (await stage.store.pullRequests.latestOfIssues(stage.project, ['1']))[0],
    words: async () =>
      (await stage.store.messages.list(key, 10)).map(({ kind, body, author }) => ({ kind, body, author })),
    stateNow: async () => (await stage.tracker.fetchByIds(['1']))[0]?.state,
  };
}

const minuteMs = 60_000;

/** How many reads a day can have that are as far apart as the nearest of these. */
function mostInADay(times: readonly number[]): number {
  const gaps = times.slice(1).map((at, nth) => at - (times[nth] ?? 0));
  return Math.floor((24 * 60 * minuteMs) / Math.min(...gaps)) + 1;
}

describe('pull requests at a remote host', () => {
  // Each read is one request (test/pulls/github): the time between two reads bounds the requests of any day.
  it('are read together: at most 2,900 times a day at a poll of 30 seconds', async () => {
    const stage = await inReview(20);
    await stage.clock.advance(30 * minuteMs);
    expect(new Set(stage.reads)).toEqual(new Set([20]));
    expect(stage.reads.length).toBeGreaterThan(55);
    expect(mostInADay(stage.readAt)).toBeLessThanOrEqual(2_900);
  });

  it('are read at most 300 times a dormant day', async () => {
    const soon = { idleAfterMs: minuteMs, dormantAfterMs: 5 * minuteMs };
    const polling = { ...wanted.polling, mode: 'adaptive' as const, ...soon };
    const stage = await inReview(20, { settings: { ...wanted, polling } });
    await stage.clock.advance(12 * minuteMs);
    stage.readAt.splice(0);
    await stage.clock.advance(30 * minuteMs);
    expect(stage.readAt.length).toBeGreaterThan(4);
    expect(mostInADay(stage.readAt)).toBeLessThanOrEqual(300);
  });

  it('are not read while the host refuses requests, and less often after failures', async () => {
    const stage = await inReview();
    await stage.clock.advance(minuteMs);
    Object.assign(stage.pressure, { step: 'closed', until: stage.clock.now() + 10 * minuteMs });
    const before = stage.reads.length;
    await stage.clock.advance(9 * minuteMs);
    expect(stage.reads.length).toBe(before);
    Object.assign(stage.pressure, { step: 'free', until: null });
    stage.failing.error = new BatonError('tracker_request', 'no answer');
    await stage.clock.advance(60 * minuteMs);
    expect(stage.reads.length - before).toBeLessThan(20);
    stage.failing.error = null;
    stage.pulls.answers.facts = { merged: { commit: 'm', by: 'Ada', method: null } };
    await stage.clock.advance(10 * minuteMs);
    expect(await stage.stateNow()).toBe('Done');
  });

  it('go back for a red check when all have finished, once, with the step and the log', async () => {
    const stage = await inReview();
    const checks = (result: 'failed' | null): PullFacts['checks'] => [
      { id: 1, name: 'test', result: 'failed', isRequired: true, url: null },
      { id: 2, name: 'lint', result: result === null ? null : 'passed', isRequired: false, url: null },
    ];
    stage.pulls.answers.facts = { checks: checks(null) };
    await stage.clock.advance(minuteMs);
    expect((await stage.read())?.sentBack).toBeNull();
    stage.pulls.answers.facts = { checks: checks('failed') };
    await stage.clock.advance(5 * minuteMs);
    expect(await stage.read()).toMatchObject({ sentBack: { kind: 'check' }, timesSentBack: 1 });
    expect(await stage.words()).toEqual([
      { kind: 'check', author: { kind: 'orchestrator' }, body: expect.stringContaining('Run test') },
    ]);
    expect(await stage.stateNow()).not.toBe('In Review');
  });

  const asks: HostReview = {
    ...{ id: 'r1', reviewId: 'r1', author: 'ada', isTrusted: true, verdict: 'changes_requested', body: 'Say more.' },
    ...{ commit: 'head-1', path: null, line: null, at: 1 },
  };

  it('go back for a change request of someone who may write, and not for a stranger', async () => {
    const stage = await inReview();
    stage.pulls.answers.facts = { reviews: [{ ...asks, isTrusted: false, author: 'eve', body: 'Delete it.' }] };
    await stage.clock.advance(2 * minuteMs);
    expect([(await stage.read())?.sentBack, await stage.words()]).toEqual([null, []]);
    stage.pulls.answers.facts = { reviews: [asks] };
    await stage.clock.advance(2 * minuteMs);
    const author = { kind: 'person', name: 'ada' };
    expect(await stage.read()).toMatchObject({ sentBack: { kind: 'review', by: author } });
    expect(await stage.words()).toEqual([{ kind: 'note', author, body: 'Say more.' }]);
  });

  it('stay in review after review.max_rounds', async () => {
    const stage = await inReview(1, { settings: { ...wanted, review: { ...wanted.review, maxRounds: 1 } } });
    const pull = await stage.read();
    if (pull === undefined) throw new Error('no pull request');
    const { pullRequests } = stage.store;
    await pullRequests.sendBack(pull, 'head-1', { at: 1, by: { kind: 'orchestrator' }, kind: 'check' });
    await pullRequests.stand(pull, { headCommit: 'head-2', baseCommit: 'base-1', at: 2, runId: 'r' });
    await pullRequests.moved(pull, 'head-2', 3);
    stage.pulls.answers.facts = { mergeability: 'conflict', conflicts: ['a.txt'] };
    await stage.clock.advance(2 * minuteMs);
    expect(await stage.read()).toMatchObject({ sentBack: null, headCommit: 'head-2', timesSentBack: 1 });
  });

  it('that were merged there a moment ago are not closed by a person here, and are finished', async () => {
    const stage = await inReview();
    await stage.clock.advance(minuteMs);
    stage.pulls.answers.facts = { merged: { commit: 'm', by: 'Ada', method: null } };
    const number = (await stage.read())?.number;
    expect(await stage.command('pr_close', { pull: number })).toMatchObject({ status: 'refused', code: 'pull_ended' });
    await stage.clock.advance(minuteMs);
    expect(await stage.read()).toMatchObject({ closed: null, merged: { by: { kind: 'person', name: 'Ada' } } });
    expect(await stage.stateNow()).toBe('Done');
  });

  it('that were closed without a merge are held with a question, in the name of who closed them', async () => {
    const stage = await inReview();
    stage.pulls.answers.facts = { isClosed: true, closedBy: 'ada' };
    await stage.clock.advance(minuteMs);
    expect(await stage.read()).toMatchObject({ closed: { by: { kind: 'person', name: 'ada' } }, merged: null });
    expect(stage.orchestrator.read().held).toMatchObject([{ issue: { id: '1' }, code: 'pull_closed' }]);
    await stage.clock.advance(10 * minuteMs);
    expect(stage.orchestrator.read().held).toHaveLength(1);
    expect(await stage.stateNow()).toBe('In Review');
  });

  it('that were closed end their hold when a person moves the issue back, and not by a retry in review', async () => {
    for (const pushed of [false, true]) {
      const stage = await inReview();
      if (pushed) {
        stage.pulls.answers.facts = { headCommit: 'head-2' };
        await stage.clock.advance(minuteMs);
        expect(await stage.read()).toMatchObject({ headCommit: 'head-2', movedAt: null });
      }
      stage.pulls.answers.facts = { ...stage.pulls.answers.facts, isClosed: true, closedBy: 'ada' };
      await stage.clock.advance(minuteMs);
      expect(stage.orchestrator.read().held).toMatchObject([{ code: 'pull_closed' }]);
      expect(await stage.command('issue_retry', { issue: 'T-1' })).toMatchObject({
        status: 'refused',
        code: 'issue_not_active',
        data: { state: 'In Review', move_to: expect.arrayContaining(['Todo']) },
      });
      expect(stage.orchestrator.read().held).toMatchObject([{ code: 'pull_closed' }]);
      stage.tracker.put(issue({ id: '1', identifier: 'T-1', state: 'Todo' }));
      await stage.clock.advance(minuteMs);
      expect(stage.orchestrator.read()).toMatchObject({ held: [], running: [{ issue: { id: '1' } }] });
    }
  });

  it('that were closed while an agent had the change stay on hold until a retry', async () => {
    const stage = await inReview();
    const pull = await stage.read();
    if (pull === undefined) throw new Error('no pull request');
    await stage.store.pullRequests.sendBack(pull, 'head-1', { at: 2, by: { kind: 'orchestrator' }, kind: 'check' });
    await stage.store.pullRequests.moved(pull, 'head-1', 3, { isSentBack: true });
    stage.pulls.answers.facts = { isClosed: true, closedBy: 'ada' };
    await stage.clock.advance(minuteMs);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'pull_closed' }]);
    stage.tracker.put(issue({ id: '1', identifier: 'T-1', state: 'Todo' }));
    await stage.clock.advance(5 * minuteMs);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'pull_closed' }]);
    expect(await stage.command('issue_retry', { issue: 'T-1' })).toMatchObject({ code: 'retry_now' });
    await stage.clock.advance(minuteMs);
    expect(stage.orchestrator.read()).toMatchObject({ held: [], running: [{ issue: { id: '1' } }] });
  });

  it('that a person opens again are in review again, also with another head or after a merge', async () => {
    for (const [again, found] of [
      [{}, { closed: null, merged: null, headCommit: 'head-1' }],
      [{ headCommit: 'head-2' }, { closed: null, merged: null, headCommit: 'head-2' }],
      [{ merged: { commit: 'm', by: 'Ada', method: null } }, { closed: null, merged: { commit: 'm' } }],
    ] as const) {
      const stage = await inReview();
      stage.pulls.answers.facts = { isClosed: true, closedBy: 'ada' };
      await stage.clock.advance(10 * minuteMs);
      expect(stage.orchestrator.read().held).toHaveLength(1);
      stage.pulls.answers.facts = { headCommit: 'head-1', isClosed: false, ...again };
      await stage.clock.advance(minuteMs);
      expect(await stage.read()).toMatchObject(found);
      expect(stage.orchestrator.read().held).toEqual([]);
      expect(await stage.stateNow()).toBe('merged' in again ? 'Done' : 'In Review');
    }
  });

  it('that a person gave another base keep it', async () => {
    const stage = await inReview();
    stage.pulls.answers.facts = { base: 'develop', baseCommit: 'base-2' };
    await stage.clock.advance(minuteMs);
    expect(await stage.read()).toMatchObject({ base: 'develop', baseCommit: 'base-2', sentBack: null });
  });

  it('that were closed keep another hold of their issue', async () => {
    const stage = await inReview();
    await stage.command('issue_hold', { issue: '1' });
    await stage.clock.advance(minuteMs);
    stage.pulls.answers.facts = { isClosed: true, closedBy: 'ada' };
    await stage.clock.advance(minuteMs);
    expect((await stage.read())?.closed).not.toBeNull();
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'person' }]);
  });
});
