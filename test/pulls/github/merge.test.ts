import { afterEach, describe, expect, it } from 'vitest';
import { git } from '../../workspace/git/scratch-repository.ts';
import { branch, mergeOf } from '../pull-scene.ts';
import { type GithubScene, proposedOnGithub, stopGithubs } from './github-scene.ts';

let scene: GithubScene;

afterEach(async () => {
  expect(scene.github.complaints).toEqual([]);
  await stopGithubs();
});

async function proposed(review: Parameters<typeof proposedOnGithub>[0] = {}) {
  const made = await proposedOnGithub(review);
  scene = made;
  return made;
}

describe('a merge', () => {
  it('is refused by a rule of the repository, or without a required check, with the reason', async () => {
    const { pulls, github, pull, head } = await proposed();
    github.addCheck(head, 'test', null, true);
    const refusal = { outcome: 'refused', refusal: { code: 'checks_missing', names: ['test'] } };
    expect(await pulls.merge(pull, mergeOf(pull))).toEqual(refusal);
    github.checksOf(head).splice(0);
    github.rules.merge = 'At least 1 approving review is required by reviewers with write access.';
    const main = github.tip('main');
    expect(await pulls.merge(pull, mergeOf(pull))).toEqual({
      outcome: 'refused',
      refusal: { code: 'protected', reason: github.rules.merge },
    });
    expect(github.tip('main')).toBe(main);
  });

  // @conforms judge.2
  it('by Baton itself gets the checks and reviews of the last moment', async () => {
    const { pulls, github, pull, head } = await proposed();
    github.addCheck(head, 'test', 'SUCCESS', false);
    await pulls.read([pull]);
    github.checksOf(head).splice(0);
    github.addCheck(head, 'test', 'FAILURE', false);
    github.addReview(1, { author: 'ada', state: 'CHANGES_REQUESTED', body: 'No.' });
    const seen: unknown[] = [];
    const request = mergeOf(pull, {
      objection: async ({ checks, reviews }) => {
        seen.push(checks, reviews);
        return { code: 'not_automatic', objection: 'checks_not_green' };
      },
    });
    expect(await pulls.merge(pull, request)).toMatchObject({ outcome: 'refused' });
    expect(seen).toMatchObject([[{ result: 'failed' }], [{ author: 'ada', verdict: 'changes_requested' }]]);
  });

  it('whose answer was lost is found, and not made twice', async () => {
    const { pulls, github, pull } = await proposed();
    const route = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
    github.faults.push({ kind: 'lost', when: 'after', route });
    await expect(pulls.merge(pull, mergeOf(pull))).rejects.toMatchObject({ code: 'github_unreachable' });
    const merged = github.tip('main');
    expect(await pulls.merge(pull, mergeOf(pull))).toMatchObject({ outcome: 'merged', commit: merged });
    expect(github.tip('main')).toBe(merged);
  });

  it('refuses a head that a person pushed in the last moment', async () => {
    const { pulls, github, pull, push } = await proposed();
    const route = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
    let theirs = '';
    github.faults.push({ kind: 'race', route, meanwhile: () => (theirs = push(branch, { 'late.txt': 'x\n' })) });
    const result = await pulls.merge(pull, mergeOf(pull));
    expect(result).toEqual({ outcome: 'refused', refusal: { code: 'head_moved', headCommit: theirs } });
    expect(github.pulls[0]?.state).toBe('OPEN');
  });

  it('of one that was closed is refused', async () => {
    const { pulls, github, pull } = await proposed();
    github.close(1, 'ada');
    expect(await pulls.merge(pull, mergeOf(pull))).toEqual({ outcome: 'refused', refusal: { code: 'closed' } });
  });

  it('of a draft is refused, with the reason', async () => {
    const { pulls, github, pull } = await proposed({ draft: true });
    const refusal = { code: 'protected', reason: expect.stringContaining('draft') };
    expect(await pulls.merge(pull, mergeOf(pull))).toEqual({ outcome: 'refused', refusal });
    expect(github.pulls[0]?.state).toBe('OPEN');
  });

  it.each(['merge', 'squash', 'rebase'] as const)(
    'by a person with %s is found although GitHub removed the branch',
    async (how) => {
      const { pulls, github, pull } = await proposed();
      expect(github.merge(1, how, 'ada')).toBeNull();
      git(github.repository, 'update-ref', '-d', `refs/heads/${branch}`);
      const merged = { by: 'ada', commit: github.tip('main') };
      expect(await pulls.read([pull])).toMatchObject([{ headCommit: null, isClosed: false, merged }]);
    },
  );
});
