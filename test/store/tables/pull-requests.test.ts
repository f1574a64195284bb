import { expect, it } from 'vitest';
import type { Author } from '../../../src/core/issue/author.ts';
import { type Check, checksVerdict, pullStatus } from '../../../src/core/pull/pull-request.ts';
import { onEngine, project } from '../../conformance/store.ts';
import { engines } from '../engines.ts';
import { pullDraft } from '../pull-draft.ts';

const person: Author = { kind: 'person', name: 'Ada' };
const head2 = { headCommit: 'head-2', baseCommit: 'base-2', at: 30, runId: 'r2' };

for (const engine of engines) {
  onEngine(engine, 'stores pull requests', ({ open, place }) => {
    it('with numbers of their own in each project, and the first round', async () => {
      const { pullRequests } = await open();
      const first = await pullRequests.open(
        pullDraft('a', { title: 'a "b" 漢字 🚲', url: 'https://example.org/7', hostNumber: 7 }),
      );
      expect(first).toMatchObject({
        ...{ number: 1, issueId: 'a', title: 'a "b" 漢字 🚲', hostNumber: 7, url: 'https://example.org/7' },
        ...{ openedAt: 10, standingSince: 10, movedAt: null, sentBack: null, timesSentBack: 0 },
        ...{ approved: null, merged: null, closed: null, openedBy: { kind: 'run', runId: 'run of a' } },
      });
      expect((await pullRequests.open(pullDraft('b'))).number).toBe(2);
      expect((await pullRequests.open(pullDraft('a', { project: 'beta' }))).number).toBe(1);
      expect(await pullRequests.read({ project, number: 1 })).toEqual(first);
      expect(await pullRequests.read({ project, number: 3 })).toBeNull();
      expect(await pullRequests.rounds(first)).toEqual([
        { round: 1, headCommit: 'head-1', baseCommit: 'base-1', at: 10, runId: 'run of a', sentBack: null },
      ]);
    });

    it('one open for an issue; after its end another one, with a new number', async () => {
      const { pullRequests } = await open();
      const first = await pullRequests.open(pullDraft('a'));
      expect(await pullRequests.open(pullDraft('a', { headCommit: 'other', at: 99 }))).toEqual(first);
      expect(await pullRequests.rounds(first)).toHaveLength(1);
      expect(await pullRequests.close(first, { at: 40, by: person })).toBe(true);
      expect(await pullRequests.openOfIssue({ project, issueId: 'a' })).toBeNull();
      const second = await pullRequests.open(pullDraft('a', { headCommit: 'other', at: 99 }));
      expect(second.number).toBe(2);
      expect((await pullRequests.latestOfIssues(project, ['a', 'z'])).map(({ number }) => number)).toEqual([2]);
      expect((await pullRequests.list(project, { limit: 9 })).map(({ number }) => number)).toEqual([2, 1]);
      expect((await pullRequests.list(project, { limit: 9, below: 2 })).map(({ number }) => number)).toEqual([1]);
      expect((await pullRequests.allOpen(project)).map(({ number }) => number)).toEqual([2]);
    });

    it('a closed one open again, but no merged one and no second one of its issue', async () => {
      const { pullRequests } = await open();
      const first = await pullRequests.open(pullDraft('a'));
      expect(await pullRequests.reopen(first)).toBe(false);
      await pullRequests.close(first, { at: 40, by: person });
      expect(await pullRequests.reopen(first)).toBe(true);
      expect(await pullRequests.read(first)).toEqual(first);
      await pullRequests.close(first, { at: 50, by: person });
      const second = await pullRequests.open(pullDraft('a', { headCommit: 'other', at: 99 }));
      expect(await pullRequests.reopen(first)).toBe(false);
      await pullRequests.merged(second, { at: 60, by: person, commit: 'm', method: null });
      expect(await pullRequests.reopen(second)).toBe(false);
    });

    it('as the same one when its host has it open again with another head', async () => {
      const { pullRequests } = await open();
      const first = await pullRequests.open(pullDraft('a', { host: 'github', hostNumber: 7 }));
      await pullRequests.close(first, { at: 40, by: person });
      const again = pullDraft('a', { host: 'github', hostNumber: 7, headCommit: 'other', at: 99 });
      expect((await pullRequests.open(again)).number).toBe(first.number);
      expect((await pullRequests.open({ ...again, hostNumber: 8 })).number).toBe(2);
    });

    it('one of an issue and every number once, when many daemons open at the same moment', async () => {
      const where = await place();
      const stores = await Promise.all([open(where), open(where), open(where)]);
      const opened = await Promise.all(
        stores.flatMap(({ pullRequests }, nth) =>
          ['same', `own-${nth}`, 'same', `more-${nth}`].map((issueId) => pullRequests.open(pullDraft(issueId))),
        ),
      );
      expect(new Set(opened.filter(({ issueId }) => issueId === 'same').map(({ number }) => number)).size).toBe(1);
      const all = (await stores[0]?.pullRequests.list(project, { limit: 99 })) ?? [];
      expect(all.map(({ number }) => number)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    });

    it('a new head as a new round, for which nothing said before counts', async () => {
      const { pullRequests } = await open();
      const pull = await pullRequests.open(pullDraft('a'));
      expect(await pullRequests.stand(pull, { ...head2, headCommit: 'head-1' })).toBe(false);
      expect(await pullRequests.moved(pull, 'head-1', 11)).toBe(true);
      expect(await pullRequests.moved(pull, 'head-1', 12)).toBe(false);
      expect(await pullRequests.approve(pull, 'head-1', { at: 12, by: person })).toBe(true);
      expect(await pullRequests.stand(pull, head2)).toBe(true);
      expect(await pullRequests.stand(pull, head2)).toBe(false);
      expect(await pullRequests.read(pull)).toMatchObject({
        ...{ headCommit: 'head-2', baseCommit: 'base-2', standingSince: 30, movedAt: null, approved: null },
      });
      expect((await pullRequests.rounds(pull)).map(({ headCommit }) => headCommit)).toEqual(['head-1', 'head-2']);
    });

    it('only words about the head that stands', async () => {
      const { pullRequests } = await open();
      const pull = await pullRequests.open(pullDraft('a'));
      await pullRequests.stand(pull, head2);
      const before = await pullRequests.read(pull);
      const late = { at: 40, by: person };
      expect(await pullRequests.moved(pull, 'head-1', 40)).toBe(false);
      expect(await pullRequests.approve(pull, 'head-1', late)).toBe(false);
      expect(await pullRequests.sendBack(pull, 'head-1', { ...late, kind: 'person' })).toBe(false);
      expect(await pullRequests.setBase(pull, 'head-1', 'base-9')).toBe(false);
      expect(await pullRequests.read(pull)).toEqual(before);
    });

    it('each sending back once, with its round, also when the same head returns', async () => {
      const { pullRequests } = await open();
      const pull = await pullRequests.open(pullDraft('a'));
      const back = { at: 20, by: person, kind: 'person' } as const;
      expect(await pullRequests.sendBack(pull, 'head-1', back)).toBe(true);
      expect(await pullRequests.sendBack(pull, 'head-1', { ...back, at: 21, kind: 'check' })).toBe(false);
      expect(await pullRequests.approve(pull, 'head-1', { at: 22, by: person })).toBe(false);
      expect(await pullRequests.read(pull)).toMatchObject({ sentBack: back, timesSentBack: 1 });
      expect(await pullRequests.stand(pull, { ...head2, headCommit: 'head-1' })).toBe(true);
      expect(await pullRequests.read(pull)).toMatchObject({ sentBack: null, timesSentBack: 1, movedAt: null });
      expect((await pullRequests.rounds(pull)).map(({ sentBack }) => sentBack)).toEqual([back, null]);
    });

    it('a single end, after which nothing changes', async () => {
      const { pullRequests } = await open();
      const pull = await pullRequests.open(pullDraft('a'));
      const merged = { at: 50, by: person, commit: 'm', method: 'squash' } as const;
      expect(await pullRequests.merged(pull, merged)).toBe(true);
      const ended = await pullRequests.read(pull);
      expect(ended).toMatchObject({ merged, closed: null });
      const late = { at: 60, by: person };
      expect(await pullRequests.merged(pull, { ...merged, at: 60, method: null })).toBe(false);
      expect(await pullRequests.close(pull, late)).toBe(false);
      expect(await pullRequests.stand(pull, head2)).toBe(false);
      expect(await pullRequests.sendBack(pull, 'head-1', { ...late, kind: 'check' })).toBe(false);
      expect(await pullRequests.describe(pull, { title: 'other' })).toBe(false);
      expect(await pullRequests.read(pull)).toEqual(ended);
      // The same head is not proposed again; another one is.
      expect(await pullRequests.open(pullDraft('a'))).toEqual(ended);
      expect(await pullRequests.open(pullDraft('a', { headCommit: 'head-2' }))).toMatchObject({
        number: 2,
        merged: null,
      });
    });

    it('its texts and its number at its host, when they come later', async () => {
      const { pullRequests } = await open();
      const pull = await pullRequests.open(pullDraft('a'));
      expect(await pullRequests.describe(pull, { hostNumber: 42, url: 'u' })).toBe(true);
      expect(await pullRequests.describe(pull, { title: 't', body: 'b' })).toBe(true);
      expect(await pullRequests.read(pull)).toMatchObject({ hostNumber: 42, url: 'u', title: 't', body: 'b' });
    });

    it('checks by commit, each with one result', async () => {
      const { pullRequests, checks } = await open();
      const pull = await pullRequests.open(pullDraft('a'));
      const planned = [
        { name: 'test', command: 'npm test' },
        { name: 'lint', command: 'npm run lint' },
      ];
      await checks.plan(pull, 'head-1', planned);
      expect(await checks.start(pull, 'head-1', 'test', 20)).toBe(true);
      // Its daemon was lost: it is planned and started again.
      await checks.plan(pull, 'head-1', planned);
      expect(await checks.waiting(project)).toEqual(planned.map((each) => ({ ...each, number: 1, commit: 'head-1' })));
      expect(await checks.start(pull, 'head-1', 'test', 30)).toBe(true);
      const end = { at: 40, result: 'failed', exitCode: 1, output: 'no' } as const;
      expect(await checks.end(pull, 'head-1', 'test', end)).toBe(true);
      expect(await checks.end(pull, 'head-1', 'test', { ...end, result: 'passed' })).toBe(false);
      expect(await checks.start(pull, 'head-1', 'test', 50)).toBe(false);
      await checks.plan(pull, 'head-2', planned);
      expect((await checks.waiting(project)).map(({ name, commit }) => `${name} ${commit}`)).toEqual([
        'test head-2',
        'lint head-1',
        'lint head-2',
      ]);
      expect(await checks.list(pull, 'head-1')).toMatchObject([
        { name: 'test', startedAt: 30, endedAt: 40, result: 'failed', exitCode: 1, output: 'no' },
        { name: 'lint', startedAt: null, result: null },
      ]);
      expect(await checks.list(pull)).toHaveLength(4);
    });

    it('checks that ended as the caller names: only they wait again, with the command of now', async () => {
      const { pullRequests, checks } = await open();
      const pull = await pullRequests.open(pullDraft('a'));
      await checks.plan(pull, 'head-1', [{ name: 'test', command: 'npm test' }]);
      const now = { name: 'test', command: 'npm run test' };
      expect(await checks.again(pull, 'head-1', now, ['skipped'])).toBe(false);
      await checks.end(pull, 'head-1', 'test', { at: 40, result: 'skipped', exitCode: null, output: 'no network' });
      expect(await checks.again(pull, 'head-1', now, ['skipped'])).toBe(true);
      expect(await checks.waiting(project)).toEqual([{ ...now, number: 1, commit: 'head-1' }]);
      expect(await checks.list(pull)).toMatchObject([{ result: null, endedAt: null, output: null }]);
      await checks.end(pull, 'head-1', 'test', { at: 50, result: 'failed', exitCode: 1, output: '' });
      expect(await checks.again(pull, 'head-1', now, ['skipped'])).toBe(false);
      expect(await checks.again(pull, 'head-1', now, ['failed'])).toBe(true);
    });
  });
}

it('derives the status of a pull request', async () => {
  const pull = {
    ...pullDraft('a'),
    ...{ number: 1, openedAt: 1, openedBy: person, standingSince: 1, movedAt: null, timesSentBack: 0 },
    ...{ sentBack: null, approved: null, merged: null, closed: null },
  };
  const said = { at: 1, by: person };
  expect(pullStatus(pull)).toBe('in_review');
  expect(pullStatus({ ...pull, approved: { ...said, commit: 'head-1' } })).toBe('approved');
  expect(pullStatus({ ...pull, approved: { ...said, commit: 'head-0' } })).toBe('in_review');
  expect(pullStatus({ ...pull, sentBack: { ...said, kind: 'check' } })).toBe('sent_back');
  expect(pullStatus({ ...pull, merged: { ...said, commit: 'm', method: null } })).toBe('merged');
  expect(pullStatus({ ...pull, closed: said })).toBe('closed');
});

// @conforms F073
it('derives the verdict of checks: skipped is not green', () => {
  const verdict = (...results: readonly Check['result'][]) =>
    checksVerdict(
      results.map((result, at) => ({
        ...{ commit: 'c', name: `${at}`, command: 'true', result },
        ...{ startedAt: null, endedAt: null, exitCode: null, output: null },
      })),
    );
  expect(verdict()).toBe('none');
  expect(verdict('passed', 'passed')).toBe('green');
  expect(verdict('passed', 'skipped')).toBe('incomplete');
  expect(verdict('passed', null)).toBe('waiting');
  for (const bad of ['failed', 'timed_out'] as const) expect(verdict('passed', bad, null)).toBe('red');
});
