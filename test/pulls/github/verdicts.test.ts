import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { Verdict } from '../../../src/core/pull/judge.ts';
import type { PullRequest } from '../../../src/core/pull/pull-request.ts';
import { proposeChange, sayVerdict } from '../../../src/pulls/changes.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { branch } from '../pull-scene.ts';
import { type GithubScene, githubScene, stopGithubs } from './github-scene.ts';

let scene: GithubScene;
let store: Store;

afterEach(async () => {
  expect(scene.github.complaints).toEqual([]);
  await stopGithubs();
  await store.close();
});

const project = 'p';
const minute = 60_000;
const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews';

/** A change on GitHub, and the verdict of its judge in the store. */
async function judged(verdict: Verdict['verdict'] = 'rejected'): Promise<PullRequest> {
  scene = await githubScene();
  store = await openStore({
    url: `sqlite:${path.join(scene.folder, 'baton.db')}`,
    clock: systemClock,
    mode: 'visitor',
  });
  const head = scene.publish(branch, { 'new.txt': 'hello\n' });
  const pull = await proposeChange(
    { store, pulls: scene.pulls },
    {
      ...{ project, issueId: 'i', identifier: 'T-1', title: 't', body: '', repository: scene.source },
      ...{ branch, base: 'main', at: 10, by: { kind: 'run', runId: 'r' }, commit: head },
    },
  );
  const findings = [{ file: 'new.txt', line: 1, severity: 'must', problem: 'Wrong.', wanted: 'Right.' } as const];
  const said = { summary: 'With a-secret-of-the-settings.', findings: verdict === 'rejected' ? findings : [] };
  const of = { commit: head, place: 0, runId: 'run-7', agent: 'reviewer', promptVersion: '1', at: 5 };
  await store.verdicts.add(pull, { verdict, ...said, ...of });
  return pull;
}

async function say(pull: PullRequest, { at = 0, counts = false, pulls = scene.pulls } = {}): Promise<void> {
  for (const verdict of await store.verdicts.list(pull))
    await sayVerdict({ store, pulls }, pull, verdict, { at, counts });
}

const reviews = () => scene.github.pulls[0]?.reviews ?? [];
const posts = (): number => scene.github.calls.filter((call) => call.route === route).length;

describe('the verdict of a judge on GitHub', () => {
  // @conforms judge.3
  it('is a comment of the account of the token about its commit, without secrets, and no review that Baton reads', async () => {
    const pull = await judged();
    await say(pull);
    expect(reviews()).toMatchObject([{ author: 'baton-bot', state: 'COMMENTED', commit: pull.headCommit }]);
    expect(reviews()[0]?.body).toContain('new.txt:1');
    expect(reviews()[0]?.body).not.toContain('a-secret-of-the-settings');
    expect(await store.verdicts.list(pull)).toMatchObject([{ hostId: reviews()[0]?.id.replace('PRR_', '') }]);
    expect(await scene.pulls.read([pull])).toMatchObject([{ reviews: [] }]);
  });

  // @conforms judge.4
  it.each(['before', 'after'] as const)('is there once when its answer was lost %s it was written', async (when) => {
    const pull = await judged();
    scene.github.faults.push({ kind: 'lost', when, route });
    await expect(say(pull, { at: 0 })).rejects.toMatchObject({ code: 'github_unreachable', retryable: true });
    // Another daemon may still be at it.
    await say(pull, { at: minute, pulls: scene.another() });
    expect(await store.verdicts.list(pull)).toMatchObject([{ hostId: null }]);
    await say(pull, { at: 3 * minute, pulls: scene.another() });
    await say(pull, { at: 9 * minute });
    expect([reviews().length, posts()]).toEqual([1, when === 'before' ? 2 : 1]);
  });

  // @conforms judge.4
  it('is written by one of two daemons', async () => {
    const pull = await judged();
    await Promise.all([say(pull), say(pull, { pulls: scene.another() })]);
    await say(pull, { at: 9 * minute, pulls: scene.another() });
    expect(posts()).toBe(1);
  });

  it('is found again behind many reviews', async () => {
    const pull = await judged();
    for (let nth = 0; nth < 150; nth += 1) scene.github.addReview(1, { author: 'ada', state: 'COMMENTED' });
    scene.github.faults.push({ kind: 'lost', when: 'after', route });
    await expect(say(pull)).rejects.toMatchObject({ code: 'github_unreachable' });
    await say(pull, { at: 3 * minute });
    expect([reviews().length, posts()]).toEqual([151, 1]);
  });

  // @conforms judge.3
  it.each([
    ['approved', 'APPROVED'],
    ['rejected', 'CHANGES_REQUESTED'],
  ] as const)('that is %s counts only where the settings say so', async (verdict, state) => {
    const pull = await judged(verdict);
    Object.assign(scene.github.pulls[0] ?? {}, { author: 'ada' });
    await say(pull, { counts: true });
    expect(reviews()).toMatchObject([{ state, author: 'baton-bot' }]);
    // It is Baton's own word: it approves nothing that Baton merges.
    expect(await scene.pulls.read([pull])).toMatchObject([{ reviews: [] }]);
  });

  it('is a comment where GitHub lets the account not count for its own pull request', async () => {
    const pull = await judged('approved');
    await say(pull, { counts: true });
    expect([reviews().map(({ state }) => state), posts()]).toEqual([['COMMENTED'], 2]);
  });
});
