import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { noPressure } from '../../../src/core/requests/request-pressure.ts';
import type { Publication } from '../../../src/core/run/run-evidence.ts';
import { issue } from '../../fake/issues.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { storeThrough } from '../faulty-store.ts';
import { begun, type Scene } from '../scene.ts';
import { claims, commit, hour, inReviewMode, minute, reviewed } from './review-scene.ts';

describe('a branch that others moved at a remote host', () => {
  it('holds the issue, and counts every head that a run published as its own', async () => {
    const remote = { pressure: () => noPressure, lastRead: () => null, explainCheck: async () => null };
    const stage = await inReviewMode();
    Object.assign(stage.pulls.as, { remote });
    stage.pulls.answers.fails = new BatonError('tracker_request', 'The push was done, and its answer is lost.');
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(1_000);
    await stage.command('issue_takeover', { issue: '1' });
    await stage.command('issue_handback', { issue: '1' });
    await stage.clock.advance(1_000);
    stage.pulls.answers.fails = null;
    commit(stage.runs[1], 'commit-2');
    await stage.clock.advance(minute);
    expect(stage.pulls.proposed.at(-1)).toMatchObject({ earlierHeads: ['commit-2', 'commit-1'] });
  });

  it("with commits on top of those of the run has a head that is not the run's", async () => {
    const stage = await inReviewMode();
    stage.at.head = 'theirs';
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(minute);
    expect(await stage.store.pullRequests.rounds({ project: stage.project, number: 1 })).toMatchObject([
      { headCommit: 'theirs', runId: null },
    ]);
  });

  it('is left to a person', async () => {
    const stage = await inReviewMode();
    stage.pulls.answers.fails = new BatonError('change_not_published', 'Someone else moved it.');
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(minute);
    expect(stage.orchestrator.read().held).toMatchObject([{ issue: { id: '1' }, code: 'change_not_published' }]);
    expect([stage.runs.length, claims(stage)]).toEqual([1, [0, 0, 1]]);
  });
});

describe('an agent that commits and forgets to move its issue', () => {
  // @conforms 4.47, 4.64
  it('has one run; then its issue is in review with one pull request, and nothing claims it', async () => {
    const stage = await inReviewMode();
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(hour / 2);
    expect([stage.runs.length, await stage.stateNow(), claims(stage)]).toEqual([1, 'In Review', [0, 0, 0]]);
    expect(await stage.allPulls()).toMatchObject([
      {
        number: 1,
        identifier: 'T-1',
        title: 'Say hello',
        body: 'I said hello.',
        branch: 'baton/t-1',
        base: 'main',
        headCommit: 'commit-1',
        movedAt: expect.any(Number),
        openedBy: { kind: 'run', runId: stage.runs[0]?.request.runId },
      },
    ]);
    expect(stage.pulls.proposed).toHaveLength(1);
  });

  it('keeps its own words for the pull request', async () => {
    const stage = await inReviewMode();
    stage.runs[0]?.request.report({ kind: 'proposed', title: 'Greet\nthe user', body: 'Why: asked.' });
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(0);
    expect(await stage.allPulls()).toMatchObject([{ title: 'Greet the user', body: 'Why: asked.' }]);
  });

  it('has its pull request too when it moved its issue to review itself', async () => {
    const stage = await inReviewMode();
    stage.runs[0]?.request.report({ kind: 'moved', to: 'In Review' });
    const moved = issue({ id: '1', state: 'In Review' });
    stage.tracker.put(moved);
    stage.runs[0]?.request.report({ kind: 'left', issue: moved });
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(0);
    expect([(await stage.allPulls()).length, claims(stage)]).toEqual([1, [0, 0, 0]]);
  });

  it.each(['Done', 'Backlog'])('is left alone when a person moved its issue to %s meanwhile', async (state) => {
    const stage = await inReviewMode();
    stage.tracker.put(issue({ id: '1', state }));
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(0);
    expect([await stage.allPulls(), await stage.stateNow(), claims(stage)]).toEqual([[], state, [0, 0, 0]]);
  });

  // @conforms 4.64
  it.each([
    ['lost its label', { labels: [] }],
    ['was assigned to someone else', { labels: ['baton'], dispatchable: false }],
  ])('is left alone when its issue %s meanwhile', async (_how, change) => {
    const tracker = { ...reviewed.tracker, requiredLabels: ['baton'] };
    const stage = await inReviewMode({ settings: { ...reviewed, tracker } }, issue({ id: '1', labels: ['baton'] }));
    stage.tracker.put(issue({ id: '1', ...change }));
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(hour / 2);
    expect([await stage.allPulls(), await stage.stateNow(), claims(stage)]).toEqual([[], 'Todo', [0, 0, 0]]);
    expect(stage.runs).toHaveLength(1);
  });

  it('is not run again and again where the base of its branch is unknown: its change waits, with the reason', async () => {
    const stage = await inReviewMode();
    commit(stage.runs[0], 'commit-1', { base: undefined as unknown as string });
    await stage.clock.advance(hour);
    expect(stage.runs).toHaveLength(1);
    expect(claims(stage)).toEqual([0, 1, 0]);
    expect(stage.orchestrator.read().retrying[0]).toMatchObject({ kind: 'review' });
    expect(stage.logger.lines.some(({ event }) => event === 'change_not_delivered')).toBe(true);
    expect(await stage.allPulls()).toEqual([]);
  });
});

describe('a change that cannot be brought into review', () => {
  it('because its host does not answer waits with a reason, without a slot, and is tried again', async () => {
    const stage = await inReviewMode();
    stage.pulls.answers.fails = new BatonError('git_failed', 'no git');
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(1_000);
    expect(stage.orchestrator.read().retrying).toMatchObject([{ kind: 'review', waitCode: 'not_delivered' }]);
    expect(stage.orchestrator.read().running).toEqual([]);
    stage.pulls.answers.fails = null;
    await stage.clock.advance(60_000);
    expect([await stage.stateNow(), (await stage.allPulls()).length, stage.runs.length]).toEqual(['In Review', 1, 1]);
  });

  it('because the tracker does not take the move keeps its one pull request, over a restart', async () => {
    const first = await inReviewMode();
    const { moveIssue } = first.tracker.changes;
    first.tracker.changes.moveIssue = async () => Promise.reject(new BatonError('tracker_status', 'HTTP 502'));
    commit(first.runs[0], 'commit-1');
    await first.clock.advance(1_000);
    expect(await first.allPulls()).toMatchObject([{ movedAt: null }]);
    first.kill();
    first.tracker.changes.moveIssue = moveIssue;
    const { store, clock, tracker, pulls } = first;
    const next = await begun({ store, clock, tracker, settings: reviewed, pullsFor: () => pulls.as });
    await clock.advance(60_000);
    expect([await first.stateNow(), next.runs]).toEqual(['In Review', []]);
    expect(await first.allPulls()).toMatchObject([{ number: 1, movedAt: expect.any(Number) }]);
  });

  it('because the tracker does not take the move, and that a person merges meanwhile, is not proposed again', async () => {
    const stage = await inReviewMode();
    const { moveIssue } = stage.tracker.changes;
    stage.tracker.changes.moveIssue = async () => Promise.reject(new BatonError('tracker_status', 'HTTP 502'));
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(1_000);
    const merged = { at: 1, by: { kind: 'person', name: 'me' }, commit: 'merge-1', method: 'squash' } as const;
    expect(await stage.store.pullRequests.merged({ project: stage.project, number: 1 }, merged)).toBe(true);
    stage.tracker.changes.moveIssue = moveIssue;
    await stage.clock.advance(60_000);
    expect(await stage.allPulls()).toMatchObject([{ number: 1, merged }]);
    expect(await stage.stateNow()).not.toBe('In Review');
  });
});

describe('a change that a person sends back while its issue is being moved to review', () => {
  it('takes its issue back out of review', async () => {
    const stage = await inReviewMode();
    const { moveIssue } = stage.tracker.changes;
    stage.tracker.changes.moveIssue = async (...asked) => {
      const [pull] = await stage.allPulls();
      const sent = { at: 1, by: { kind: 'person', name: 'me' }, kind: 'person' } as const;
      if (pull !== undefined && pull.timesSentBack === 0)
        await stage.store.pullRequests.sendBack(pull, 'commit-1', sent);
      return moveIssue(...asked);
    };
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(minute);
    expect(await stage.allPulls()).toMatchObject([{ timesSentBack: 1, movedAt: expect.any(Number) }]);
    expect([await stage.stateNow(), stage.runs.length]).toEqual(['Todo', 2]);
  });
});

/** A daemon that dies at a step: the step, before or after it was done, never answers. */
const never = new Promise<never>(() => {});

describe('a daemon that is killed while it brings a change into review', () => {
  const host = ['before the host', 'after the host'] as const;
  const stored = ['pullRequests.open', 'pullRequests.stand', 'pullRequests.moved'].flatMap(
    (call) => [`before ${call}`, `after ${call}`] as const,
  );
  const tracked = ['before the move', 'after the move'] as const;

  it.each([...host, ...stored, ...tracked])('%s leaves one pull request and one move', async (step) => {
    const [when, what] = [step.slice(0, step.indexOf(' ')), step.slice(step.indexOf(' ') + 1)];
    const clock = new SimulatedClock();
    const at = (call: string) => (call === what ? never : undefined);
    const first = await inReviewMode({
      clock,
      through: (store) => storeThrough(store, when === 'before' ? { before: at } : { after: at }),
    });
    const { tracker, pulls } = first;
    const { open } = pulls.as;
    const { moveIssue } = tracker.changes;
    const dies =
      <P extends unknown[], T>(work: (...parts: P) => Promise<T>) =>
      async (...parts: P): Promise<T> => {
        if (when === 'after') await work(...parts);
        return never;
      };
    if (what === 'the host') Object.assign(pulls.as, { open: dies(open) });
    if (what === 'the move') Object.assign(tracker.changes, { moveIssue: dies(moveIssue.bind(tracker.changes)) });
    commit(first.runs[0], 'commit-1');
    await clock.advance(1_000);
    first.kill();
    Object.assign(pulls.as, { open });
    Object.assign(tracker.changes, { moveIssue });
    const { store } = first;
    const next = await begun({ store, clock, tracker, settings: reviewed, pullsFor: () => pulls.as });
    await clock.advance(120_000);
    expect([await first.stateNow(), next.runs, claims(next)]).toEqual(['In Review', [], [0, 0, 0]]);
    expect(await first.allPulls()).toMatchObject([{ number: 1, movedAt: expect.any(Number), timesSentBack: 0 }]);
    expect(await store.pullRequests.rounds({ project: first.project, number: 1 })).toHaveLength(1);
  });
});

describe('the address of a change, as a comment on its issue', () => {
  const url = 'https://github.example.invalid/acme/app/pull/7';
  const wanted = { ...reviewed, tracker: { ...reviewed.tracker, comments: true } };
  const remote = { pressure: () => noPressure, lastRead: () => null, explainCheck: async () => null };

  it.each([
    ['before counters.set', 1],
    ['after counters.set', 0],
    ['before the comment', 0],
    ['after the comment', 1],
    ['before pullRequests.moved', 1],
  ])('is there at most once when the daemon is killed %s', async (step, count) => {
    const clock = new SimulatedClock();
    const at = (call: string) => (call === step.slice(step.indexOf(' ') + 1) ? never : undefined);
    const isBefore = step.startsWith('before');
    const first = await inReviewMode({
      clock,
      settings: wanted,
      through: (store) => storeThrough(store, isBefore ? { before: at } : { after: at }),
    });
    const { store, tracker, pulls } = first;
    const { open } = pulls.as;
    Object.assign(pulls.as, {
      remote,
      open: async (...asked: Parameters<typeof open>) => ({
        ...(await open(...asked)),
        hostNumber: 7,
        url,
        isOpen: true,
      }),
    });
    const addComment = tracker.changes.addComment.bind(tracker.changes);
    const dying: typeof addComment = async (...said) => {
      if (!isBefore) await addComment(...said);
      return never;
    };
    if (step.endsWith('the comment')) Object.assign(tracker.changes, { addComment: dying });
    commit(first.runs[0], 'commit-1');
    await clock.advance(1_000);
    first.kill();
    Object.assign(tracker.changes, { addComment });
    const next = await begun({ store, clock, tracker, settings: wanted, pullsFor: () => pulls.as });
    await clock.advance(120_000);
    expect([await first.stateNow(), next.runs, claims(next)]).toEqual(['In Review', [], [0, 0, 0]]);
    expect(tracker.commentsOn('1').filter(({ body }) => body.includes(url))).toHaveLength(count);
  });
});

describe('a person who moves an issue to review', () => {
  const publication: Publication = {
    outcome: 'published',
    branch: 'baton/t-1',
    base: 'main',
    commit: 'commit-2',
    before: 'commit-1',
    reason: null,
    elsewhere: null,
  };

  async function heldForPerson() {
    const stage = await inReviewMode();
    stage.runs[0]?.request.report({ kind: 'workspace', path: '/workspaces/T-1' });
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'taken_over' }]);
    stage.workspaces.answers.publication = publication;
    stage.at.head = 'commit-2';
    return stage;
  }

  async function moveToReview(stage: Scene): Promise<void> {
    stage.tracker.put(issue({ id: '1', state: 'In Review' }));
    stage.orchestrator.refresh();
    await stage.clock.advance(1_000);
  }

  it('that they took over has its own commits there, as after a run, and nothing holds it any more', async () => {
    const stage = await heldForPerson();
    await moveToReview(stage);
    expect(stage.workspaces.broughtHome).toEqual(['/workspaces/T-1']);
    expect(await stage.allPulls()).toMatchObject([{ headCommit: 'commit-2', movedAt: expect.any(Number) }]);
    expect([claims(stage), await stage.stateNow(), stage.runs.length]).toEqual([[0, 0, 0], 'In Review', 1]);
  });

  it.each(['nothing', 'refused'] as const)(
    'that they took over stays theirs while publishing says %s',
    async (outcome) => {
      const stage = await heldForPerson();
      stage.workspaces.answers.publication = { ...publication, outcome };
      await moveToReview(stage);
      expect([await stage.allPulls(), claims(stage)]).toEqual([[], [0, 0, 1]]);
      // Once there is a change, it goes there.
      stage.workspaces.answers.publication = publication;
      await moveToReview(stage);
      expect([(await stage.allPulls()).length, claims(stage)]).toEqual([1, [0, 0, 0]]);
    },
  );

  it('that they took over has commits there that an earlier daemon published already', async () => {
    const stage = await heldForPerson();
    stage.workspaces.answers.publication = { ...publication, outcome: 'nothing' };
    const git = { head: 'commit-2', branch: 'baton/t-1', ahead: 1, changed: 0, untracked: 0, conflicts: 0 };
    stage.workspaces.answers.facts = { fingerprint: 'x', git };
    await moveToReview(stage);
    expect([(await stage.allPulls()).length, claims(stage)]).toEqual([1, [0, 0, 0]]);
    const [run] = await stage.store.runs.list(stage.project, { limit: 1 });
    expect(run?.evidence).toMatchObject({ git, publication: { commit: 'commit-2' } });
  });

  it('that waits for a retry ends the wait, and its commits are there', async () => {
    const stage = await inReviewMode();
    stage.runs[0]?.request.report({ kind: 'workspace', path: '/workspaces/T-1' });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    stage.workspaces.answers.publication = publication;
    await moveToReview(stage);
    await stage.clock.advance(60_000);
    expect([(await stage.allPulls()).length, claims(stage), stage.runs.length]).toEqual([1, [0, 0, 0], 1]);
  });

  it('that an agent works on stops the agent, and the commits that it made are there', async () => {
    const stage = await inReviewMode();
    await moveToReview(stage);
    expect(stage.runs[0]?.stops).toEqual(['inactive_state']);
    stage.runs[0]?.request.report({ kind: 'published', publication });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    expect([(await stage.allPulls()).length, claims(stage)]).toEqual([1, [0, 0, 0]]);
  });
});

describe('a run that leaves no new commit', () => {
  it('does not bring the commit into review that a person put on its branch since', async () => {
    const stage = await inReviewMode();
    commit(stage.runs[0], 'commit-1');
    await stage.clock.advance(0);
    const [pull] = await stage.allPulls();
    if (pull === undefined) throw new Error('no pull request');
    const { store } = stage;
    stage.at.head = 'of a person';
    const { baseCommit } = pull;
    await store.pullRequests.stand(pull, { headCommit: stage.at.head, baseCommit, at: 1, runId: null });
    stage.tracker.put(issue({ id: '1', state: 'Todo' }));
    await stage.clock.advance(2 * hour);
    expect(stage.runs[1]?.request).toMatchObject({ retryKind: 'revision', reviewed: ['commit-1', 'of a person'] });
    commit(stage.runs[1], 'commit-1', { outcome: 'nothing' });
    await stage.clock.advance(0);
    expect(await store.pullRequests.rounds(pull)).toHaveLength(2);
    expect(stage.orchestrator.read().retrying).toMatchObject([{ kind: 'continuation' }]);
  });

  it('is held when the repository did not take its branch', async () => {
    const stage = await inReviewMode();
    commit(stage.runs[0], 'commit-1', { outcome: 'refused', code: 'checked_out', reason: 'it is checked out' });
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'change_not_published' }]);
  });

  it('is held when it left files without a commit', async () => {
    const stage = await inReviewMode();
    const git = { head: 'base-1', branch: 'baton/t-1', ahead: 0, changed: 1, untracked: 0, conflicts: 0 };
    stage.runs[0]?.request.report({
      kind: 'changed',
      changed: true,
      facts: { fingerprint: 'x', git },
      committed: false,
    });
    stage.runs[0]?.succeed();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'uncommitted_work' }]);
  });
});
