import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { noPressure } from '../../../src/core/requests/request-pressure.ts';
import type { HostVerdict, PullRequests, RemoteHost } from '../../../src/pulls/pull-requests.ts';
import { reviews } from '../../../src/server/api/present/needs-you.ts';
import { fakePulls } from '../../fake/fake-pulls.ts';
import { issue } from '../../fake/issues.ts';
import { besides } from '../scene.ts';
import {
  claims,
  finding,
  hour,
  judged,
  judging,
  minute,
  reviewed,
  revise,
  roles,
  say,
  silent,
  verdictsOf,
} from './review-scene.ts';

describe('a change in review', () => {
  // @conforms 4.133
  it('is judged at its commit, and people hear of it when the judge has approved it', async () => {
    const stage = await judged();
    expect(roles(stage)).toEqual(['worker', 'judge']);
    const { judged: brief } = stage.runs[1]?.request ?? {};
    expect(brief).toMatchObject({ number: 1, commit: 'commit-1', baseCommit: 'base-1' });
    expect(stage.orchestrator.read().pulls.get('1')?.judge).toMatchObject({ status: 'wanted' });
    expect(await stage.stateNow()).toBe('In Review');
    const waiting = () => reviews(stage.orchestrator.read()).map(({ key, code }) => [key, code]);
    await stage.clock.advance(minute);
    expect(waiting()).toEqual([]);
    say(stage.runs[1]);
    await stage.clock.advance(10 * minute);
    expect(waiting()).toEqual([['review:1', 'review']]);
    expect(await verdictsOf(stage)).toMatchObject([
      { commit: 'commit-1', verdict: 'approved', agent: 'default', place: 0 },
    ]);
    expect(stage.orchestrator.read().pulls.get('1')?.judge).toEqual({ status: 'approved', isDivided: false });
    expect([roles(stage).length, claims(stage)]).toEqual([2, [0, 0, 0]]);
    expect(await stage.stateNow()).toBe('In Review');
  });

  it('has no judge unless one is asked for', async () => {
    const stage = await judged(reviewed);
    expect([roles(stage), stage.orchestrator.read().pulls.get('1')?.judge]).toEqual([['worker'], null]);
  });

  // @conforms 4.69
  it('goes back to its agent with the findings when the judge rejects it, and its next commit is judged again', async () => {
    const stage = await judged();
    say(stage.runs[1], [finding]);
    await stage.clock.advance(minute);
    expect(roles(stage)).toEqual(['worker', 'judge', 'worker']);
    const { messages, retryKind } = stage.runs[2]?.request ?? {};
    expect(retryKind).toBe('revision');
    expect(messages).toMatchObject([
      { path: null },
      { kind: 'review_comment', path: 'a.ts', line: 3, commit: 'commit-1' },
    ]);
    expect(await stage.allPulls()).toMatchObject([{ sentBack: { kind: 'judge' }, timesSentBack: 1 }]);
    await revise(stage, 2);
    expect(stage.runs[3]?.request.judged).toMatchObject({ commit: 'commit-2', verdicts: [{ commit: 'commit-1' }] });
    say(stage.runs[3]);
    await stage.clock.advance(10 * minute);
    expect(roles(stage)).toEqual(['worker', 'judge', 'worker', 'judge']);
    expect(stage.orchestrator.read().pulls.get('1')?.judge).toEqual({ status: 'approved', isDivided: false });
  });

  it('waits for a person after the rounds of its judge, and after the same finding twice', async () => {
    const stage = await judged(judging({ maxRounds: 1 }));
    say(stage.runs[1], [finding]);
    await stage.clock.advance(minute);
    await revise(stage, 2);
    say(stage.runs[3], [{ ...finding, problem: 'Something else is wrong.' }]);
    await stage.clock.advance(10 * minute);
    expect([roles(stage).length, await stage.stateNow()]).toEqual([4, 'In Review']);
    expect(stage.orchestrator.read().pulls.get('1')?.judge).toEqual({ status: 'rejected', isDivided: false });
    const other = await judged();
    say(other.runs[1], [finding]);
    await other.clock.advance(minute);
    await revise(other, 2);
    say(other.runs[3], [{ ...finding, line: 7, problem: ' it is  WRONG. ' }]);
    await other.clock.advance(10 * minute);
    expect([roles(other).length, await other.stateNow()]).toEqual([4, 'In Review']);
  });

  it('has no verdict from a judge that changed a file, or whose files could not be compared', async () => {
    for (const changed of [true, null]) {
      const stage = await judged();
      say(stage.runs[1], [], changed);
      await stage.clock.advance(minute);
      expect(await verdictsOf(stage)).toEqual([]);
      expect(roles(stage)).toEqual(['worker', 'judge', 'judge']);
    }
  });

  // @conforms 4.46, 4.70
  it.each(['hold', 'todo'] as const)('without a verdict three times is followed by %s', async (withoutVerdict) => {
    const stage = await judged(judging({ withoutVerdict }));
    for (let nth = 1; nth <= 3; nth += 1) {
      silent(stage.runs[nth]);
      await stage.clock.advance(10 * minute);
    }
    if (withoutVerdict === 'todo') {
      expect(roles(stage)).toEqual(['worker', 'judge', 'judge', 'judge', 'worker']);
      return;
    }
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'judge_without_verdict' }]);
    expect(roles(stage)).toEqual(['worker', 'judge', 'judge', 'judge']);
    // The hold stays while the change is in review, and a person lets the judge try again.
    await stage.clock.advance(10 * minute);
    expect(stage.orchestrator.read().held).toHaveLength(1);
    await stage.command('issue_retry', { issue: '1' });
    await stage.clock.advance(minute);
    expect(roles(stage).at(-1)).toBe('judge');
  });

  it('without a verdict goes back only as often as its judge may send it back, and is then held', async () => {
    const stage = await judged(judging({ withoutVerdict: 'todo', maxRounds: 1 }));
    const threeTimes = async (): Promise<void> => {
      for (let nth = 1; nth <= 3; nth += 1) {
        silent(stage.runs.at(-1));
        await stage.clock.advance(10 * minute);
      }
    };
    await threeTimes();
    expect(roles(stage).at(-1)).toBe('worker');
    await revise(stage, 2);
    await threeTimes();
    expect(roles(stage)).toEqual(['worker', ...Array(3).fill('judge'), 'worker', ...Array(3).fill('judge')]);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'judge_without_verdict' }]);
  });

  it('on hold by a person has its judge again after a retry', async () => {
    const stage = await judged();
    await stage.command('issue_stop', { issue: '1' });
    stage.runs[1]?.end();
    await stage.clock.advance(10 * minute);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'person' }]);
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ code: 'retry_now' });
    await stage.clock.advance(minute);
    expect(roles(stage)).toEqual(['worker', 'judge', 'judge']);
  });

  // @conforms 4.79
  it('does not count the runs of its judge, nor their failures, as those of its work', async () => {
    const stage = await judged();
    stage.runs[1]?.fail();
    await stage.clock.advance(minute);
    expect(roles(stage)).toEqual(['worker', 'judge', 'judge']);
    say(stage.runs[2], [finding]);
    await stage.clock.advance(minute);
    const [work] = (await stage.store.runs.list(stage.project, { issueId: '1', role: 'worker', limit: 1 })).slice(0, 1);
    expect(work).toMatchObject({ role: 'worker', attempt: null, retryKind: 'revision' });
    expect((await stage.store.counters.read({ project: stage.project, issueId: '1' })).runs).toBe(2);
  });

  // @conforms 4.34
  it('keeps its judge while it is in review, and ends it when a person moves it on', async () => {
    const stage = await judged(judging({}, { stallTimeoutMs: 0 }));
    await stage.clock.advance(61 * minute);
    expect(stage.runs[1]?.stops).toEqual([]);
    await stage.tracker.changes.moveIssue('1', 'Done', { kind: 'person', name: 'me' });
    await stage.clock.advance(61 * minute);
    expect(stage.runs[1]?.stops).toEqual(['terminal_state']);
    stage.runs[1]?.end();
    await stage.clock.advance(minute);
    expect([roles(stage), claims(stage)]).toEqual([
      ['worker', 'judge'],
      [0, 0, 0],
    ]);
  });

  // @conforms judge.3
  it.each([
    ['is shown at its host once', null, 1],
    ['is tried again later when its host does not answer', 'tracker_request', 2],
    ['is not tried again when its host refuses it', 'unsupported_setting', 1],
  ] as const)('has a verdict that %s', async (_what, code, tries) => {
    const host = fakePulls(() => 'commit-1');
    const said: HostVerdict[] = [];
    const remote: RemoteHost = {
      pressure: () => noPressure,
      lastRead: () => null,
      fetchBase: async () => 'main',
      explainCheck: async () => null,
      sayVerdict: async (_pull, verdict) => {
        said.push(verdict);
        if (code !== null && said.length === 1) throw new BatonError(code, 'no');
        return '77';
      },
    };
    const open: PullRequests['open'] = async (change) => ({ ...(await host.as.open(change)), hostNumber: 7 });
    const stage = await judged(judging({ countsAtHost: true }), { pullsFor: () => ({ ...host.as, open, remote }) });
    say(stage.runs[1]);
    await stage.clock.advance(10 * minute);
    expect(said).toHaveLength(tries);
    expect(said[0]).toMatchObject({ commit: 'commit-1', verdict: 'approved', counts: true });
    expect(await verdictsOf(stage)).toMatchObject([{ hostId: code === 'unsupported_setting' ? null : '77' }]);
  });

  it('is not judged by what a judge says about an earlier commit', async () => {
    const stage = await judged();
    const [pull] = await stage.allPulls();
    if (pull === undefined) throw new Error('no pull request');
    stage.at.head = 'commit-9';
    await stage.store.pullRequests.stand(pull, { headCommit: 'commit-9', baseCommit: 'base-1', at: 1, runId: null });
    stage.pulls.answers.facts = { headCommit: 'commit-9' };
    say(stage.runs[1]);
    await stage.clock.advance(10 * minute);
    expect(await verdictsOf(stage)).toEqual([]);
  });

  it('has a judge although every slot is taken and too many issues are in review', async () => {
    const full = judging({}, { maxConcurrentAgents: 1, maxInReview: 1, maxClaimed: 1 });
    const stage = await judged(full);
    expect(roles(stage)).toEqual(['worker', 'judge']);
    stage.tracker.put(issue({ id: '2' }));
    await stage.clock.advance(61 * minute);
    // The second issue waits for review to shrink, not for the judge.
    expect(stage.orchestrator.read().skipped).toMatchObject([{ reason: { code: 'max_in_review' } }]);
  });

  // @conforms 4.60
  it('is judged once by two daemons, and by the other one when the first is killed', async () => {
    const options = { isShared: true, owner: 'one' } as const;
    const one = await judged(judging(), options);
    const other = await besides(one, { settings: judging(), pullsFor: () => one.pulls.as });
    await other.orchestrator.start();
    await one.clock.advance(minute);
    expect([roles(one), roles(other)]).toEqual([['worker', 'judge'], []]);
    // What it said is lost with its daemon. In its old conversation it would believe that it has judged.
    one.runs[1]?.request.report({ kind: 'session', threadId: 'thread-of-judge' });
    one.runs[1]?.request.report({ kind: 'turn', turn: 1 });
    await one.clock.advance(minute);
    one.kill();
    await one.clock.advance(hour);
    expect(roles(other)).toEqual(['judge']);
    expect(other.runs[0]?.request).toMatchObject({ retryKind: 'interrupted', threadId: null });
    say(other.runs[0]);
    await one.clock.advance(minute);
    expect(await verdictsOf(one)).toMatchObject([{ verdict: 'approved' }]);
  });

  it('keeps the retry of its judge when a daemon has just started and has not read the changes', async () => {
    const one = await judged(judging());
    expect(roles(one)).toEqual(['worker', 'judge']);
    one.kill();
    const next = await besides(one, { settings: judging(), pullsFor: () => one.pulls.as });
    await next.orchestrator.start();
    await one.clock.advance(10 * minute);
    expect(roles(next)).toEqual(['judge']);
    expect(next.runs[0]?.request).toMatchObject({ retryKind: 'interrupted' });
  });
});
