import { describe, expect, it } from 'vitest';
import { mergeMethods } from '../../src/core/pull/pull-request.ts';
import type { MergeRequest, PullRequests } from '../../src/pulls/pull-requests.ts';
import { branch, mergeOf, pullOf } from '../pulls/pull-scene.ts';

/** A repository with a branch `main`, as its host sees it, and what people and agents do there. */
export interface PullGround {
  readonly pulls: PullRequests;
  tip(name: string): string | null;
  /** Commits files on a branch, which begins at `main` when it is new. */
  push(name: string, files: Readonly<Record<string, string>>, message?: string): string;
  /** A person merges a branch into `main`, without Baton. */
  mergeByPerson(name: string, how: 'merge' | 'fast_forward' | 'squash' | 'rebase'): void;
  /** A person makes a branch name another commit, whatever it had. */
  reset(name: string, commit: string): void;
  remove(name: string): void;
  /** The content of a file of a branch; null when it has none. */
  content(name: string, file: string): string | null;
  /** The number of commits of a branch. */
  count(name: string): number;
  /** The title and the text at the host; absent where only Baton's own record has them. */
  words?(name: string): string;
}

/** The suite of the seam `PullRequests`. Every host runs it unchanged. */
export function pullRequestsConformance(name: string, ground: () => Promise<PullGround>): void {
  describe(`${name} conforms to the seam of pull requests`, () => {
    const opened = async () => {
      const scene = await ground();
      const head = scene.push(branch, { 'new.txt': 'hello\n' });
      const change = await scene.pulls.open({ branch, base: 'main', title: 't', body: 'b' });
      return { ...scene, head, change, pull: pullOf(change) };
    };

    it('opens a branch once, and finds it again', async () => {
      const { pulls, change, head, tip } = await opened();
      expect(change).toMatchObject({ headCommit: head, baseCommit: tip('main') });
      expect(await pulls.open({ branch, base: 'main', title: 'other', body: 'b' })).toEqual(change);
      expect(await pulls.findByBranch(branch, 'main')).toEqual(change);
      expect(await pulls.findByBranch('none', 'main')).toBeNull();
      for (const missing of [
        { branch: 'none', base: 'main' },
        { branch, base: 'none' },
      ])
        await expect(pulls.open({ ...missing, title: 't', body: '' })).rejects.toMatchObject({
          code: 'change_missing',
        });
    });

    it('reads many at once, in their order: clean, behind, in conflict, gone, empty', async () => {
      const { pulls, push, tip, remove, reset, change, pull } = await opened();
      const names = ['clean', 'conflict', 'gone', 'empty'];
      for (const each of names) push(each, { 'README.md': `${each}\n` });
      const records = [];
      for (const each of names)
        records.push(pullOf(await pulls.open({ branch: each, base: 'main', title: '', body: '' }), { branch: each }));
      const moved = push('main', { 'README.md': 'by a person\n' });
      push('after', { 'after.txt': 'x\n' });
      records[0] = pullOf(await pulls.open({ branch: 'after', base: 'main', title: '', body: '' }), {
        branch: 'after',
      });
      remove('gone');
      reset('empty', change.baseCommit);
      const facts = await pulls.read([pull, ...records]);
      // A host may close a pull request whose branch is gone or empty.
      const none = { merged: null, baseCommit: moved };
      const open = { ...none, isClosed: false };
      expect(facts).toMatchObject([
        { ...open, mergeability: 'behind', headCommit: pull.headCommit, conflicts: [], isEmpty: false },
        { ...open, mergeability: 'clean', headCommit: tip('after'), isEmpty: false },
        { ...open, mergeability: 'conflict', conflicts: ['README.md'] },
        { ...none, headCommit: null, mergeability: 'unknown' },
        { ...none, headCommit: change.baseCommit, isEmpty: true },
      ]);
      expect(await pulls.read([])).toEqual([]);
    });

    it.each(mergeMethods)('merges by %s, once, also when it is asked again', async (method) => {
      const { pulls, push, pull: first, tip, content } = await opened();
      const head = push(branch, { 'new.txt': 'hello again\n' }, 'second');
      const pull = { ...first, headCommit: head };
      const baseCommit = push('main', { 'other.txt': 'by a person\n' });
      const merged = await pulls.merge(pull, mergeOf(pull, { method, baseCommit }));
      expect(merged).toEqual({ outcome: 'merged', commit: tip('main'), method });
      expect([content('main', 'new.txt'), content('main', 'other.txt')]).toEqual(['hello again\n', 'by a person\n']);
      expect(tip(branch)).toBe(head);
      // A daemon that was lost before it could write the result asks again, with what it knew or with what it reads.
      const after = tip('main');
      for (const asked of [baseCommit, after ?? ''])
        expect(await pulls.merge(pull, mergeOf(pull, { method, baseCommit: asked }))).toMatchObject({
          outcome: 'merged',
          commit: after,
        });
      expect(tip('main')).toBe(after);
      expect(await pulls.read([pull])).toMatchObject([{ merged: { commit: after } }]);
    });

    it('finds its own merge also when the base moved on, or the branch is gone', async () => {
      for (const method of mergeMethods) {
        const { pulls, push, pull, tip, remove, count } = await opened();
        await pulls.merge(pull, mergeOf(pull, { method }));
        const merge = tip('main');
        push('main', { 'later.txt': 'x\n' });
        remove(branch);
        const before = count('main');
        expect(await pulls.merge(pull, mergeOf(pull, { method }))).toMatchObject({ outcome: 'merged', commit: merge });
        expect(count('main')).toBe(before);
      }
    });

    it('refuses another head, another base, a conflict; and changes nothing', async () => {
      const { pulls, push, pull, tip, remove } = await opened();
      const refusal = async (over: Parameters<typeof mergeOf>[1] = {}) => {
        const before = tip('main');
        const result = await pulls.merge(pull, mergeOf(pull, over));
        expect(tip('main')).toBe(before);
        return result.outcome === 'refused' ? result.refusal : result;
      };
      const baseCommit = push('main', { 'new.txt': 'by a person\n' });
      expect(await refusal()).toEqual({ code: 'base_moved', baseCommit });
      for (const method of mergeMethods)
        expect(await refusal({ baseCommit, method })).toEqual({ code: 'conflict', files: ['new.txt'] });
      const head = push(branch, { 'b.txt': 'b\n' });
      expect(await refusal({ baseCommit })).toEqual({ code: 'head_moved', headCommit: head });
      remove(branch);
      expect(await refusal({ baseCommit })).toEqual({ code: 'head_moved', headCommit: null });
    });

    it('asks for a last word with what it has then, and changes nothing against an objection', async () => {
      const { pulls, pull, tip } = await opened();
      const [before, seen] = [tip('main'), [] as unknown[]];
      const objection: MergeRequest['objection'] = async (now) => {
        seen.push(now);
        return seen.length === 1 ? { code: 'not_automatic', objection: 'not_approved' } : null;
      };
      const request = mergeOf(pull, { by: { kind: 'orchestrator' }, objection });
      const refusal = { code: 'not_automatic', objection: 'not_approved' };
      expect(await pulls.merge(pull, request)).toEqual({ outcome: 'refused', refusal });
      expect(tip('main')).toBe(before);
      expect(seen).toMatchObject([{ headCommit: pull.headCommit, baseCommit: before, reviews: [] }]);
      expect(await pulls.merge(pull, request)).toMatchObject({ outcome: 'merged', commit: tip('main') });
    });

    it.each(['merge', 'fast_forward', 'squash', 'rebase'] as const)('sees a %s of another person', async (how) => {
      const { pulls, push, pull: first, mergeByPerson } = await opened();
      const pull = { ...first, headCommit: push(branch, { 'more.txt': 'more\n' }, 'second') };
      expect(await pulls.read([pull])).toMatchObject([{ merged: null }]);
      if (how !== 'fast_forward') push('main', { 'other.txt': 'by a person\n' });
      mergeByPerson(branch, how);
      const method = how === 'fast_forward' ? 'merge' : how;
      expect(await pulls.read([pull])).toMatchObject([{ merged: { method } }]);
      push('main', { 'later.txt': 'x\n' });
      expect(await pulls.read([pull])).toMatchObject([{ merged: { method } }]);
    });

    it('does not take a branch that a person reset for a merge', async () => {
      const { pulls, pull, push, reset } = await opened();
      const moved = push('main', { 'other.txt': 'x\n' });
      reset(branch, moved);
      expect(await pulls.read([pull])).toMatchObject([{ merged: null, isEmpty: true, headCommit: moved }]);
    });

    it('takes other words, also twice, and changes nothing else', async () => {
      const { pulls, pull, change, tip, head, words } = await opened();
      const [base, facts] = [tip('main'), await pulls.read([pull])];
      for (let times = 0; times < 2; times += 1)
        await pulls.update(pull, { title: 'Other words', body: 'And why.', receipt: 'r' });
      if (words !== undefined) for (const each of ['Other words', 'And why.']) expect(words(branch)).toContain(each);
      expect(await pulls.findByBranch(branch, 'main')).toEqual(change);
      expect(await pulls.read([pull])).toEqual(facts);
      expect([tip(branch), tip('main')]).toEqual([head, base]);
    });

    it('closes a pull request without a merge, also twice, and leaves its branch', async () => {
      const { pulls, pull, tip, head } = await opened();
      const base = tip('main');
      await pulls.close(pull);
      await pulls.close(pull);
      expect([tip(branch), tip('main')]).toEqual([head, base]);
      expect(await pulls.read([pull])).toMatchObject([{ merged: null, headCommit: head }]);
    });
  });
}
