import { afterEach, describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Issue } from '../../src/core/issue/issue.ts';
import type { Tracker } from '../../src/tracker/tracker.ts';
import { issue as anyIssue } from '../fake/issues.ts';

/** What an adapter brings so that the suite can run on it: a tracker that has exactly these issues, and ways to change it. */
export interface TrackerHarness {
  readonly tracker: Tracker;
  /** Moves an issue in the tracker itself, as a person would. */
  move(id: string, state: string): Promise<void>;
  /** Comments on an issue in the tracker itself, as a person would. */
  comment(id: string, body: string): Promise<void>;
  /** Deletes an issue in the tracker itself; null where nothing is ever deleted. */
  readonly remove: ((id: string) => Promise<void>) | null;
  /** How many requests the adapter has sent so far; null where nothing is sent. */
  requests(): number | null;
  /** Makes the next requests fail until called with false; null where nothing can fail. */
  readonly fail: ((failing: boolean) => void) | null;
  dispose(): Promise<void>;
}

/** What the adapter's tracker calls the states, and a move in it that a run may make. */
export interface TrackerStates {
  readonly todo: string;
  readonly active: string;
  readonly done: string;
  /** Neither active nor finished. */
  readonly blocked: string;
  readonly movableByRun: { readonly from: string; readonly to: string };
}

const usualStates: TrackerStates = {
  todo: 'Todo',
  active: 'In Progress',
  done: 'Done',
  blocked: 'Backlog',
  movableByRun: { from: 'Todo', to: 'Done' },
};

/** The suite of the seam `Tracker`. Every adapter runs it unchanged; only the names of states are the tracker's own. */
export function trackerConformance(
  name: string,
  open: (issues: readonly Issue[]) => Promise<TrackerHarness>,
  states: TrackerStates = usualStates,
): void {
  const issue = (changes: Partial<Issue>): Issue => anyIssue({ state: states.todo, ...changes });
  describe(`${name} conforms to the tracker seam`, () => {
    const opened: TrackerHarness[] = [];
    const openWith = async (...issues: Issue[]): Promise<TrackerHarness> => {
      const harness = await open(issues);
      opened.push(harness);
      return harness;
    };
    afterEach(async () => {
      for (const harness of opened.splice(0)) await harness.dispose();
    });
    const ids = (issues: readonly Issue[]): string[] => issues.map(({ id }) => id);

    it('reads every issue in the requested states, and no other', async () => {
      const { tracker } = await openWith(
        issue({ id: '1', state: states.todo }),
        issue({ id: '2', state: states.done }),
        issue({ id: '3', state: states.active }),
      );
      expect(ids(await tracker.fetchByStates([states.todo, states.active])).toSorted()).toEqual(['1', '3']);
    });

    it('reads more issues than a page of any tracker holds, each once, in a stable order', async () => {
      const many = Array.from({ length: 130 }, (_, index) => issue({ id: String(index + 1), createdAt: index }));
      const { tracker } = await openWith(...many);
      const first = ids(await tracker.fetchByStates([states.todo]));
      expect(new Set(first).size).toBe(130);
      expect(ids(await tracker.fetchByStates([states.todo]))).toEqual(first);
      expect(ids(await tracker.fetchByIds(ids(many)))).toEqual(ids(many));
    });

    it('compares state names trimmed and without regard to case', async () => {
      const { tracker } = await openWith(issue({ id: '1', state: states.active }));
      expect(ids(await tracker.fetchByStates([` ${states.active.toUpperCase()} `]))).toEqual(['1']);
    });

    it('returns nothing for no states and no ids, without a request', async () => {
      const { tracker, requests } = await openWith(issue({ id: '1' }));
      const before = requests();
      expect(await tracker.fetchByStates([])).toEqual([]);
      expect(await tracker.fetchByIds([])).toEqual([]);
      expect(requests()).toBe(before);
    });

    // @conforms spec-11.1
    it('reads by id in the requested order, each id once, and omits missing ones', async () => {
      const { tracker } = await openWith(issue({ id: '1' }), issue({ id: '2' }), issue({ id: '3' }));
      expect(ids(await tracker.fetchByIds(['3', '1', '3', '404', '1']))).toEqual(['3', '1']);
    });

    it('returns full records by id, in any state', async () => {
      const { tracker } = await openWith(
        issue({ id: '1', title: 'A title', state: states.done, labels: ['bug'], priority: 2 }),
      );
      const [found] = await tracker.fetchByIds(['1']);
      expect(found).toMatchObject({ id: '1', title: 'A title', state: states.done, labels: ['bug'], priority: 2 });
      expect(typeof found?.dispatchable).toBe('boolean');
    });

    it('shows a change made in the tracker at the next read', async () => {
      const { tracker, move } = await openWith(issue({ id: '1' }), issue({ id: '2' }));
      await move('1', states.done);
      expect((await tracker.fetchByIds(['1', '2'])).map(({ state }) => state)).toEqual([states.done, states.todo]);
      expect(ids(await tracker.fetchByStates([states.todo]))).toEqual(['2']);
    });

    it('leaves out an issue that was deleted in the tracker', async ({ skip }) => {
      const { tracker, remove } = await openWith(issue({ id: '1' }), issue({ id: '2' }));
      if (remove === null) return skip('this tracker deletes nothing');
      await remove('2');
      expect(ids(await tracker.fetchByIds(['1', '2']))).toEqual(['1']);
      expect(ids(await tracker.fetchByStates([states.todo]))).toEqual(['1']);
    });

    it('returns the current state of a blocker', async () => {
      const { tracker, move } = await openWith(
        issue({ id: '1' }),
        issue({ id: '2', blockedBy: [{ id: '1', identifier: 'T-1', state: states.todo }] }),
      );
      await move('1', states.done);
      const [blocked] = await tracker.fetchByIds(['2']);
      expect(blocked?.blockedBy).toMatchObject([{ id: '1', state: states.done }]);
    });

    it('rejects a read that was cancelled before it began', async () => {
      const { tracker } = await openWith(issue({ id: '1' }));
      await expect(tracker.fetchByStates([states.todo], { signal: AbortSignal.abort() })).rejects.toThrow();
      await expect(tracker.fetchByIds(['1'], { signal: AbortSignal.abort() })).rejects.toThrow();
    });

    // @conforms spec-11.1b
    it('rejects with a tracker code when the tracker fails, and never reads that as no issues', async ({ skip }) => {
      const { tracker, fail } = await openWith(issue({ id: '1' }));
      if (fail === null) return skip('this tracker has nothing that can fail');
      fail(true);
      for (const read of [tracker.fetchByStates([states.todo]), tracker.fetchByIds(['1'])]) {
        await expect(read).rejects.toSatisfy(
          (error) => error instanceof BatonError && error.code.startsWith('tracker_'),
        );
      }
      fail(false);
      expect(ids(await tracker.fetchByIds(['1']))).toEqual(['1']);
    });

    // @conforms tools.35
    it('reads the comments of an issue, newest last, complete, with author and time', async ({ skip }) => {
      const { tracker, comment, requests } = await openWith(issue({ id: '1' }), issue({ id: '2' }));
      if (tracker.fetchComments === undefined) return skip('nothing can be said in this tracker');
      expect(await tracker.fetchComments('1')).toEqual({ comments: [], hasEarlier: false });
      await comment('1', 'The hinge is on the wrong side.');
      await comment('2', 'Another issue.');
      await tracker.changes?.addComment('1', 'Moved it.', { kind: 'run', runId: 'run-1' });
      await comment('1', ' Not *quite*:\n\n\tlower. ');
      const before = requests();
      const { comments, hasEarlier } = await tracker.fetchComments('1');
      expect(requests()).toBe(before === null ? null : before + 1);
      expect(hasEarlier).toBe(false);
      const [first, byRun, last] = tracker.changes === null ? [comments[0], undefined, comments[1]] : comments;
      expect(comments).toHaveLength(tracker.changes === null ? 2 : 3);
      expect([first?.body, last?.body]).toEqual(['The hinge is on the wrong side.', ' Not *quite*:\n\n\tlower. ']);
      for (const { at, author, leftOut } of comments) {
        expect([typeof at, typeof author, leftOut]).toEqual(['number', 'string', 0]);
      }
      expect(first?.authorNames).not.toEqual([]);
      expect(last?.authorNames).toEqual(first?.authorNames);
      // Text that an agent wrote never counts as written by the trusted person.
      expect(byRun?.authorNames.filter((name) => first?.authorNames.includes(name)) ?? []).toEqual([]);
    });

    // @conforms tools.36
    it('returns the latest 50 comments and says that there are earlier ones', async ({ skip }) => {
      const { tracker, comment } = await openWith(issue({ id: '1' }));
      if (tracker.fetchComments === undefined) return skip('nothing can be said in this tracker');
      for (let number = 1; number <= 50; number += 1) await comment('1', `comment ${number}`);
      const all = await tracker.fetchComments('1');
      expect([all.comments.length, all.hasEarlier]).toEqual([50, false]);
      await comment('1', 'comment 51');
      const latest = await tracker.fetchComments('1');
      expect(latest.hasEarlier).toBe(true);
      expect(latest.comments.map(({ body }) => body)).toEqual(
        Array.from({ length: 50 }, (_, index) => `comment ${index + 2}`),
      );
    });

    it('cuts a long comment at 4,000 whole characters and says how many are missing', async ({ skip }) => {
      const { tracker, comment } = await openWith(issue({ id: '1' }));
      if (tracker.fetchComments === undefined) return skip('nothing can be said in this tracker');
      const exact = 'x'.repeat(4_000);
      const long = `${'x'.repeat(3_999)}🧰 and more`;
      await comment('1', exact);
      await comment('1', long);
      expect((await tracker.fetchComments('1')).comments).toMatchObject([
        { body: exact, leftOut: 0 },
        { body: 'x'.repeat(3_999), leftOut: long.length - 3_999 },
      ]);
    });

    it('rejects a read of comments that was cancelled, failed, or names no issue', async ({ skip }) => {
      const { tracker, comment, fail, requests } = await openWith(issue({ id: '1' }));
      if (tracker.fetchComments === undefined) return skip('nothing can be said in this tracker');
      await comment('1', 'x');
      const before = requests();
      await expect(tracker.fetchComments('1', { signal: AbortSignal.abort() })).rejects.toThrow();
      expect(requests()).toBe(before);
      await expect(tracker.fetchComments('404')).rejects.toMatchObject({ code: 'tracker_issue_not_found' });
      if (fail === null) return;
      fail(true);
      await expect(tracker.fetchComments('1')).rejects.toSatisfy(
        (error) => error instanceof BatonError && /^tracker_(?!issue_not_found)/.test(error.code),
      );
      fail(false);
      expect((await tracker.fetchComments('1')).comments).toHaveLength(1);
    });

    it('names the issues that are not finished, with one request', async ({ skip }) => {
      const { tracker, requests } = await openWith(
        issue({ id: '1', title: 'Active', state: states.active }),
        issue({ id: '2', title: 'Waits', state: states.todo }),
        issue({ id: '3', title: 'Over', state: states.done }),
      );
      const { fetchOpen } = tracker;
      if (fetchOpen === undefined) return skip('all states of this tracker are known');
      await expect(fetchOpen({ signal: AbortSignal.abort() })).rejects.toThrow();
      const before = requests();
      expect((await fetchOpen()).map(({ title }) => title).toSorted()).toEqual(['Active', 'Waits']);
      expect(requests()).toBe(before === null ? null : before + 1);
    });

    it('moves an issue only from the state that the caller names', async ({ skip }) => {
      const { from, to } = states.movableByRun;
      const { tracker, requests } = await openWith(issue({ id: '1', state: from }));
      const { changes } = tracker;
      if (changes === null) return skip('this tracker is read-only to Baton');
      const author = { kind: 'run', runId: 'run-1' } as const;
      await expect(changes.moveIssue('1', to, author, { from: states.done })).rejects.toMatchObject({
        code: 'board_move_refused',
        details: { from, expected: states.done, to },
      });
      expect((await tracker.fetchByIds(['1']))[0]?.state).toBe(from);
      const before = requests();
      expect((await changes.moveIssue('1', to, author, { from: from.toUpperCase(), reason: 'ready' })).state).toBe(to);
      expect(requests()).toBe(before === null ? null : before + 2);
      // A write that arrived, and whose answer was lost, is no refusal.
      expect((await changes.moveIssue('1', to, author, { from })).state).toBe(to);
    });

    it('adds and removes labels without touching the others', async ({ skip }) => {
      const { tracker, requests } = await openWith(
        issue({ id: '1', labels: ['bug', 'ui'] }),
        issue({ id: '2', labels: ['urgent', 'docs'] }),
      );
      const { changes } = tracker;
      if (changes === null) return skip('this tracker is read-only to Baton');
      const author = { kind: 'run', runId: 'run-1' } as const;
      const before = requests();
      const changed = await changes.changeLabels(
        '1',
        { add: [' Urgent', 'bug'], remove: ['UI', 'docs', 'gone'] },
        author,
      );
      expect(requests()).toBe(before === null ? null : before + 2);
      expect(changed.labels.toSorted()).toEqual(['bug', 'urgent']);
      expect((await tracker.fetchByIds(['1', '2'])).map(({ labels }) => labels.toSorted())).toEqual([
        ['bug', 'urgent'],
        ['docs', 'urgent'],
      ]);
      expect((await changes.changeLabels('1', { remove: ['bug'] }, author)).labels).toEqual(['urgent']);
      expect((await changes.changeLabels('1', {}, author)).labels).toEqual(['urgent']);
      await expect(changes.changeLabels('404', { add: ['bug'] }, author)).rejects.toMatchObject({
        code: 'tracker_issue_not_found',
      });
    });

    it('makes the parts of an issue once, lets it wait for them, and reads them with their states', async ({
      skip,
    }) => {
      const { tracker, move } = await openWith(issue({ id: '1', state: states.active }), issue({ id: '2' }));
      const { changes, fetchChildren } = tracker;
      if (changes?.createChildren === undefined || fetchChildren === undefined)
        return skip('issues of this tracker have no parts');
      const children = async () => fetchChildren.call(tracker, ['1', '2', '1']);
      expect([...(await children()).values()]).toEqual([[], []]);
      const author = { kind: 'run', runId: 'run-1' } as const;
      const ids = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'] as const;
      const [first, second] = ids;
      const part = { description: 'Of it.', priority: 1, labels: [] };
      const plan = {
        parentId: '1',
        states: { todo: states.todo, blocked: states.blocked },
        children: [
          { ...part, id: first, title: 'A part', blockedBy: [] },
          { ...part, id: second, title: 'Another', blockedBy: [first] },
        ],
      };
      const made = await changes.createChildren(plan, author);
      const [parent] = await tracker.fetchByIds(['1']);
      expect(made).toMatchObject([
        { id: first, title: 'A part', description: 'Of it.', priority: 1, state: states.todo, blockedBy: [] },
        { id: second, title: 'Another', state: states.todo, blockedBy: [{ id: first, state: states.todo }] },
      ]);
      for (const { parent: of, labels } of made)
        expect([of, labels]).toEqual([{ id: '1', identifier: parent?.identifier }, []]);
      expect([parent?.state, parent?.blockedBy.map(({ id }) => id).toSorted()]).toEqual([states.blocked, [...ids]]);
      expect(parent?.parent ?? null).toBeNull();
      // Again: nothing is made twice.
      expect((await changes.createChildren(plan, author)).map(({ id }) => id)).toEqual([...ids]);
      const links = (await children()).get('1') ?? [];
      expect(links.map(({ id, state }) => [id, state]).toSorted()).toEqual(ids.map((id) => [id, states.todo]));
      await move(first, states.done);
      expect((await children()).get('1')?.find(({ id }) => id === first)?.state).toBe(states.done);
      await expect(changes.createChildren({ ...plan, parentId: '404' }, author)).rejects.toMatchObject({
        code: 'tracker_issue_not_found',
      });
      const nowhere = { ...plan, parentId: '2', states: { ...plan.states, todo: 'Nirvana' } };
      await expect(changes.createChildren(nowhere, author)).rejects.toMatchObject({ code: 'tracker_state_unknown' });
    });

    it('moves and comments on behalf of a run, and lists the states for an unknown one', async ({ skip }) => {
      const { from, to } = states.movableByRun;
      const { tracker } = await openWith(issue({ id: '1', state: from }));
      const { changes } = tracker;
      if (changes === null) return skip('this tracker is read-only to Baton');
      const author = { kind: 'run', runId: 'run-1' } as const;
      expect((await changes.moveIssue('1', ` ${to.toUpperCase()}`, author)).state).toBe(to);
      expect((await tracker.fetchByIds(['1']))[0]?.state).toBe(to);
      await changes.addComment('1', 'Tests pass.', author);
      await expect(changes.moveIssue('1', 'Nirvana', author)).rejects.toMatchObject({ code: 'tracker_state_unknown' });
      await expect(changes.moveIssue('404', to, author)).rejects.toMatchObject({ code: 'tracker_issue_not_found' });
      await expect(changes.addComment('404', 'x', author)).rejects.toMatchObject({ code: 'tracker_issue_not_found' });
    });
  });
}
