import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { CheckResult } from '../../../src/core/pull/pull-request.ts';
import { fakePulls } from '../../fake/fake-pulls.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { pullDraft } from '../../store/pull-draft.ts';
import { gate, type SceneOptions, scene } from '../scene.ts';

const usual = settings();
const review = { ...usual.review, maxRounds: 2, checks: [{ name: 'test', run: 'npm test', timeoutMs: null }] };
const wanted = {
  ...settings({
    intervalMs: 3_600_000,
    tracker: {
      states: { todo: 'Todo', inProgress: null, review: 'In Review', blocked: null, done: 'Done' },
      reviewStates: ['In Review'],
    },
  }),
  review,
};
const pass = 10_000;

/** An issue in review whose head `head-1` was moved there; its check ends as `result` says. */
async function inReview(result: CheckResult = 'passed', options: SceneOptions = {}) {
  const pulls = fakePulls(() => 'head-1');
  const checked: string[] = [];
  const stage = await scene({
    settings: wanted,
    issues: [issue({ id: '1', state: 'In Review' })],
    pullsFor: () => pulls.as,
    runChecks: async (_settings, standing) => {
      for (const pull of standing) {
        await stage.store.checks.plan(pull, pull.headCommit, [{ name: 'test', command: 'npm test' }]);
        const end = { at: 1, result, exitCode: 1, output: 'expected 1, got 2' };
        if (await stage.store.checks.end(pull, pull.headCommit, 'test', end)) checked.push(pull.headCommit);
      }
    },
    ...options,
  });
  const pull = await stage.store.pullRequests.open(pullDraft('1', { project: stage.project, host: 'local' }));
  await stage.store.pullRequests.moved(pull, 'head-1', 1);
  await stage.orchestrator.start();
  const read = () => stage.store.pullRequests.read(pull);
  const stateNow = async () => (await stage.tracker.fetchByIds(['1']))[0]?.state;
  return { ...stage, pulls, pull, checked, read, stateNow };
}

const merged = { commit: 'merge-1', by: 'Ada', method: null };

describe('an open pull request', () => {
  // @conforms 4.68
  it('that someone merged elsewhere finishes its issue in their name', async () => {
    const stage = await inReview();
    stage.pulls.answers.facts = { merged };
    await stage.clock.advance(pass);
    expect(await stage.read()).toMatchObject({ merged: { by: { kind: 'person', name: 'Ada' }, commit: 'merge-1' } });
    expect(await stage.stateNow()).toBe('Done');
  });

  it('stays open while the tracker cannot be reached, and the merge is found again', async () => {
    const stage = await inReview();
    const move = stage.tracker.changes.moveIssue.bind(stage.tracker.changes);
    stage.tracker.changes.moveIssue = async () => {
      throw new BatonError('tracker_request', 'no answer');
    };
    stage.pulls.answers.facts = { merged };
    await stage.clock.advance(pass);
    expect((await stage.read())?.merged).toBeNull();
    stage.tracker.changes.moveIssue = move;
    await stage.clock.advance(pass);
    expect([(await stage.read())?.merged?.commit, await stage.stateNow()]).toEqual(['merge-1', 'Done']);
  });

  it('stays open when the daemon stops before its issue was moved, so that the next one finds the merge', async () => {
    const stage = await inReview();
    let asked = 0;
    stage.tracker.changes.moveIssue = (_id, _to, _by, ask) => {
      asked += 1;
      return new Promise((_, reject) => ask?.signal?.addEventListener('abort', () => reject(ask.signal?.reason)));
    };
    stage.pulls.answers.facts = { merged };
    await stage.clock.advance(pass);
    await stage.orchestrator.stop();
    expect([asked, (await stage.read())?.merged]).toEqual([1, null]);
  });

  it('is followed again when the tracker did not answer the move of its issue at all', async () => {
    const stage = await inReview();
    const move = stage.tracker.changes.moveIssue.bind(stage.tracker.changes);
    stage.tracker.changes.moveIssue = (_id, _to, _by, ask) =>
      new Promise((_resolve, reject) => {
        ask?.signal?.addEventListener('abort', () => reject(ask.signal?.reason));
      });
    stage.pulls.answers.facts = { merged };
    await stage.clock.advance(pass);
    stage.tracker.changes.moveIssue = move;
    await stage.clock.advance(3 * 60_000);
    expect([(await stage.read())?.merged?.commit, await stage.stateNow()]).toEqual(['merge-1', 'Done']);
  });

  // @conforms 3.6, 3.17, 3.55
  it('has its checks run by a job of its own from the store, without a request; without one in review nothing runs', async () => {
    const stage = await inReview();
    await stage.clock.advance(1_000);
    const before = stage.calls.length;
    await stage.clock.advance(pass);
    expect([stage.checked, stage.calls.length - before]).toEqual([['head-1'], 0]);
    const passes: number[] = [];
    const none = await scene({
      settings: wanted,
      issues: [issue({ id: '1', state: 'In Review' })],
      pullsFor: () => fakePulls(() => 'head-1').as,
      runChecks: async (_settings, standing) => void passes.push(standing.length),
    });
    await none.orchestrator.start();
    await none.clock.advance(10 * pass);
    expect(passes).toEqual([]);
  });

  it('whose branch a person moved begins another round, with checks of its own', async () => {
    const stage = await inReview();
    await stage.clock.advance(pass);
    stage.pulls.answers.facts = { headCommit: 'head-2' };
    await stage.clock.advance(2 * pass);
    expect((await stage.read())?.headCommit).toBe('head-2');
    expect(await stage.store.pullRequests.rounds(stage.pull)).toHaveLength(2);
    expect(stage.checked).toEqual(['head-1', 'head-2']);
  });
});

describe('a check', () => {
  const oneSlot = { ...wanted, agent: { ...wanted.agent, maxConcurrentAgents: 1 } };
  const issues = [issue({ id: '1', state: 'In Review' }), issue({ id: '2' })];

  it('runs while agents have every slot', async () => {
    const stage = await inReview('passed', { settings: oneSlot, issues });
    await stage.clock.advance(0);
    expect([stage.started(), stage.orchestrator.read().slots]).toMatchObject([['2'], { used: 1, limit: 1 }]);
    await stage.clock.advance(pass);
    expect([stage.checked, stage.orchestrator.read().running.length]).toEqual([['head-1'], 1]);
  });

  it('takes no slot while it runs', async () => {
    const { passed, open } = gate();
    let isRunning = false;
    const runChecks: SceneOptions['runChecks'] = async () => {
      isRunning = true;
      await passed;
    };
    const stage = await inReview('passed', { settings: oneSlot, issues: issues.slice(0, 1), runChecks });
    await stage.clock.advance(pass);
    expect([isRunning, stage.orchestrator.read().slots.used]).toEqual([true, 0]);
    stage.tracker.put(issue({ id: '2' }));
    await stage.clock.advance(3_600_000);
    expect([stage.started(), stage.orchestrator.read().slots.used]).toEqual([['2'], 1]);
    open();
    await stage.clock.advance(pass);
  });
});

describe('a red check', () => {
  it('sends the change back once, and its words reach the next run as a revision', async () => {
    const stage = await inReview('failed');
    await stage.clock.advance(2 * pass);
    expect(await stage.read()).toMatchObject({ sentBack: { kind: 'check' }, timesSentBack: 1 });
    const { request } = stage.runs[0] ?? {};
    expect(request).toMatchObject({ retryKind: 'revision', messages: [{ kind: 'check', commit: 'head-1' }] });
    expect(request?.messages[0]?.body).toContain('expected 1, got 2');
    await stage.clock.advance(2 * pass);
    expect((await stage.read())?.timesSentBack).toBe(1);
    expect(stage.runs).toHaveLength(1);
  });

  it.each([
    ['lost its label', { labels: [] }],
    ['was assigned to someone else', { labels: ['baton'], dispatchable: false }],
  ])('moves nothing when the issue %s, and sends the change back once it is Baton’s again', async (_how, change) => {
    const labelled = { ...wanted, tracker: { ...wanted.tracker, requiredLabels: ['baton'] } };
    const ours = issue({ id: '1', state: 'In Review', labels: ['baton'] });
    const stage = await inReview('failed', { settings: labelled, issues: [{ ...ours, ...change }] });
    await stage.clock.advance(3 * pass);
    expect([await stage.read(), await stage.stateNow()]).toMatchObject([{ sentBack: null }, 'In Review']);
    stage.tracker.put(ours);
    await stage.clock.advance(3_600_000 + pass);
    expect(await stage.read()).toMatchObject({ sentBack: { kind: 'check' }, timesSentBack: 1 });
    expect(stage.runs).toHaveLength(1);
  });

  it('moves nothing when the issue is taken from Baton between the red check and the move', async () => {
    const labelled = { ...wanted, tracker: { ...wanted.tracker, requiredLabels: ['baton'] } };
    const ours = issue({ id: '1', state: 'In Review', labels: ['baton'] });
    const stage = await inReview('failed', { settings: labelled, issues: [ours] });
    // No poll has seen it since.
    stage.tracker.put({ ...ours, labels: [] });
    await stage.clock.advance(3 * pass);
    expect([await stage.stateNow(), stage.runs]).toEqual(['In Review', []]);
  });

  it('leaves the change in review for a person once review.max_rounds are used up', async () => {
    const stage = await inReview('failed');
    const { pullRequests } = stage.store;
    for (const head of ['head-2', 'head-3']) {
      const { headCommit } = (await stage.read()) ?? stage.pull;
      await pullRequests.sendBack(stage.pull, headCommit, { at: 1, by: { kind: 'orchestrator' }, kind: 'check' });
      await pullRequests.stand(stage.pull, { headCommit: head, baseCommit: 'base-1', at: 2, runId: null });
      await pullRequests.moved(stage.pull, head, 3);
    }
    stage.pulls.answers.facts = { headCommit: 'head-3' };
    await stage.clock.advance(2 * pass);
    expect(stage.checked).toContain('head-3');
    expect(await stage.read()).toMatchObject({ sentBack: null, timesSentBack: 2 });
    expect([await stage.stateNow(), stage.runs.length]).toEqual(['In Review', 0]);
  });

  it('does not send the same commit back again when a person brought it into review once more', async () => {
    const stage = await inReview('failed');
    const by = { kind: 'orchestrator' } as const;
    await stage.store.pullRequests.sendBack(stage.pull, 'head-1', { at: 1, by, kind: 'check' });
    const again = { headCommit: 'head-1', baseCommit: 'base-1', at: 2, runId: 'run-2' };
    await stage.store.pullRequests.stand(stage.pull, again);
    await stage.store.pullRequests.moved(stage.pull, 'head-1', 3);
    await stage.clock.advance(2 * pass);
    expect(stage.checked).toEqual(['head-1']);
    expect(await stage.read()).toMatchObject({ sentBack: null, timesSentBack: 1 });
  });

  it('of a commit that a person pushed while the change stands in review sends it back too', async () => {
    const stage = await inReview('failed', { settings: { ...wanted, review: { ...review, checks: [] } } });
    stage.pulls.answers.facts = { headCommit: 'head-2' };
    await stage.clock.advance(pass);
    const pushed = await stage.read();
    expect(pushed).toMatchObject({ headCommit: 'head-2', movedAt: null });
    await stage.store.checks.plan(stage.pull, 'head-2', [{ name: 'test', command: 'npm test' }]);
    const end = { at: 1, result: 'failed', exitCode: 1, output: 'expected 1, got 2' } as const;
    await stage.store.checks.end(stage.pull, 'head-2', 'test', end);
    await stage.clock.advance(2 * pass);
    expect(await stage.read()).toMatchObject({ sentBack: { kind: 'check' }, timesSentBack: 1 });
    expect(stage.runs[0]?.request).toMatchObject({ retryKind: 'revision', messages: [{ commit: 'head-2' }] });
  });

  it('of a commit that a person pushed while an agent works leaves the agent alone', async () => {
    const stage = await inReview('failed', { issues: [issue({ id: '1', state: 'Elsewhere' })] });
    stage.pulls.answers.facts = { headCommit: 'head-2' };
    await stage.clock.advance(2 * pass);
    expect(stage.checked).toContain('head-2');
    expect(await stage.read()).toMatchObject({ headCommit: 'head-2', sentBack: null });
  });

  it.each(['passed', 'skipped'] as const)('is not one that %s', async (result) => {
    const stage = await inReview(result);
    await stage.clock.advance(2 * pass);
    expect([(await stage.read())?.sentBack, await stage.stateNow()]).toEqual([null, 'In Review']);
  });

  it('moves its issue when the tracker answers again, also after a failure', async () => {
    const stage = await inReview('failed');
    const move = stage.tracker.changes.moveIssue.bind(stage.tracker.changes);
    stage.tracker.changes.moveIssue = async () => {
      throw new BatonError('tracker_request', 'no answer');
    };
    await stage.clock.advance(2 * pass);
    expect([(await stage.read())?.sentBack?.kind, await stage.stateNow()]).toEqual(['check', 'In Review']);
    stage.tracker.changes.moveIssue = move;
    await stage.clock.advance(2 * pass);
    expect(stage.runs).toHaveLength(1);
  });
});

describe('a change that a check sent back and whose issue was not moved', () => {
  it('is moved by any daemon: the one that sent it back may be lost, or have lost the answer of its store', async () => {
    const stage = await inReview();
    await stage.clock.advance(pass);
    const by = { kind: 'orchestrator' } as const;
    await stage.store.pullRequests.sendBack(stage.pull, 'head-1', { at: 1, by, kind: 'check' });
    await stage.clock.advance(pass);
    expect((await stage.read())?.movedAt).not.toBeNull();
    expect(await stage.stateNow()).not.toBe('In Review');
  });
});

describe('a person who moves an issue in review back by hand', () => {
  it('begins a revision, and the change counts as sent back', async () => {
    const stage = await inReview();
    await stage.clock.advance(pass);
    await stage.tracker.changes.moveIssue('1', 'Todo', { kind: 'person', name: 'me' });
    stage.orchestrator.refresh();
    await stage.clock.advance(pass);
    expect(stage.runs[0]?.request.retryKind).toBe('revision');
    expect(await stage.read()).toMatchObject({ sentBack: { kind: 'moved' }, timesSentBack: 1 });
  });
});
