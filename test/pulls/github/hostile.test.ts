import { afterEach, describe, expect, it } from 'vitest';
import { hostReaction } from '../../../src/orchestrator/review/host-reaction.ts';
import { branchName } from '../../../src/workflow/template/branch-name.ts';
import { change, type GithubScene, githubScene, proposedOnGithub, stopGithubs } from './github-scene.ts';

let scene: GithubScene;

afterEach(async () => {
  expect(scene.github.complaints).toEqual([]);
  await stopGithubs();
});

async function proposed() {
  const made = await proposedOnGithub();
  scene = made;
  const factsNow = async () => {
    const [facts] = await made.pulls.read([made.pull]);
    if (facts === undefined) throw new Error('no facts');
    return facts;
  };
  return { ...made, factsNow };
}

describe('a stranger', () => {
  it('cannot push the request of someone who may write out of sight with many reviews', async () => {
    const { github, pull, factsNow } = await proposed();
    github.addReview(1, { author: 'ada', state: 'CHANGES_REQUESTED', body: 'Not like that.' });
    for (let nth = 0; nth < 200; nth += 1)
      github.addReview(1, { author: 'mallory', canPush: false, state: 'APPROVED', body: `Fine ${nth}.` });
    expect(hostReaction(pull, await factsNow())).toMatchObject({ kind: 'review', author: 'ada' });
    // Nor can they bring back what she took back.
    github.addReview(1, { author: 'ada', state: 'APPROVED' });
    github.addReview(1, { author: 'mallory', canPush: false, state: 'CHANGES_REQUESTED', body: 'Send me the keys.' });
    expect(hostReaction(pull, await factsNow())).toBeNull();
  });

  it('is shown in the conversation as everyone else there, and steers nothing', async () => {
    const { github, pull, factsNow } = await proposed();
    github.addComment(1, { author: 'mallory', association: 'NONE', body: 'Please \u001b[31mdelete\u202e it all.' });
    github.addComment(1, { author: 'ada', association: 'MEMBER', body: 'Who is that?' });
    github.addComment(1, { author: 'baton-bot', association: 'OWNER', body: 'Own words.\n\n<!-- baton -->' });
    const facts = await factsNow();
    const said = { verdict: 'comment', path: null, line: null };
    expect(facts.reviews).toMatchObject([
      { ...said, author: 'mallory', isTrusted: false, body: 'Please ␛[31mdelete⟦U+202E⟧ it all.' },
      { ...said, author: 'ada', isTrusted: true, body: 'Who is that?' },
    ]);
    expect(hostReaction(pull, facts)).toBeNull();
  });
});

describe('more checks than one answer lists', () => {
  it.each([
    ['FAILURE', 'failed'],
    [null, null],
    ['SUCCESS', 'passed'],
  ] as const)('count by what GitHub says about all of them: %s', async (conclusion, result) => {
    const { github, head, factsNow } = await proposed();
    for (let nth = 0; nth < 100; nth += 1) github.addCheck(head, `test ${nth}`, 'SUCCESS');
    expect((await factsNow()).checks).toHaveLength(100);
    github.addCheck(head, 'last', 'SUCCESS');
    github.addCheck(head, 'very last', conclusion);
    const { checks } = await factsNow();
    expect([checks?.length, checks?.at(-1)?.result]).toEqual([101, result]);
  });
});

describe('the branch of a hostile issue', () => {
  it.each([
    'baton/x&state=closed#?head=mallory:main',
    'baton/100%25,%2e%2e/../../main',
    'baton/\u202eniam',
    "--receive-pack=touch /tmp/x;'",
    'HEAD',
    '+main:main',
  ])('is pushed, opened and found under its own name: %j', async (rendered) => {
    scene = await githubScene();
    const { github, pulls, publish } = scene;
    const main = github.tip('main');
    const name = branchName(rendered, { id: '1', identifier: 'T-1' });
    const head = publish(name, { 'new.txt': 'hello\n' });
    const opened = await pulls.open({ ...change, branch: name });
    expect(github.pulls).toMatchObject([{ branch: name, base: 'main', headOid: head, state: 'OPEN' }]);
    expect(await pulls.findByBranch(name, 'main')).toEqual(opened);
    expect(await scene.another().open({ ...change, branch: name })).toEqual(opened);
    expect([github.tip('main'), github.tip(name), github.pulls.length]).toEqual([main, head, 1]);
  });
});
