// @module-tag full
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { type FakeGithub, startFakeGithub } from '../fake/github/fake-github.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { describeInChromium } from './chromium.ts';
import { attacks, expectHarmlessPage, tricks } from './hostile-text.ts';
import { ReviewScene } from './review-scene.ts';
import { barriersOf } from './screens.ts';
import { action, openWindow, part, patient, reads, rowOf, settled } from './window.ts';

leaveNoPlaces();

describeInChromium('the review of a change on GitHub', (browser) => {
  const scene = new ReviewScene();
  let github: FakeGithub;

  beforeAll(async () => {
    const { place, source } = scene;
    github = await startFakeGithub({ folder: place.folder, from: source });
    const host = `review: {host: github, repository: acme/app, api_url: "${github.apiUrl}", token: "${github.token}", `;
    place.replace('WORKFLOW.md', place.read('WORKFLOW.md').replace('review: {', host));
    await scene.start();
  }, 60_000);
  afterAll(async () => {
    scene[Symbol.dispose]();
    await github[Symbol.asyncDispose]();
  });

  it('shows what its checks and people say there, and leads to the merge as with the local host', async () => {
    const issue = await scene.file('Greet', []);
    const standing = (round: number) =>
      expect
        .poll(() => scene.pull(issue), { timeout: 60_000, interval: 200 })
        .toMatchObject({ status: 'in_review', checks: 'green', times_sent_back: round - 1 });
    await standing(1);
    const head = (): string => github.pulls[0]?.headOid ?? '';
    github.addCheck(head(), `unit ${attacks[1]}`, 'SUCCESS', true);
    const said = { path: `src/greet/${issue}.ts`, line: 3, body: `Is it ${attacks[0]} ${tricks}?` };
    github.addReview(1, { author: 'mallory', canPush: false, state: 'CHANGES_REQUESTED', comments: [said] });
    github.addComment(1, { author: 'ada', association: 'MEMBER', body: 'In the conversation.' });

    // The last poll found both.
    await expect.poll(async () => (await scene.pull(issue)).at_host?.reviews.length, { timeout: 60_000 }).toBe(3);

    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    await window.go(`/review/live/${issue}`);
    await settled(page);
    const link = page.locator('.issue-heading a[target="_blank"]');
    expect(await link.getAttribute('href')).toBe('https://github.example.invalid/acme/app/pull/1');
    const there = page.locator('section[aria-label="Checks"] ul').last();
    await reads(there, /passed\s+unit <img src=x/);
    await reads(there, /mallory[\s\S]*may not write[\s\S]*<script>window\.hit = 1<\/script>/);
    await reads(there, /ada[\s\S]*In the conversation\./);
    await expectHarmlessPage(page, 'review');
    expect(await barriersOf(page)).toEqual([]);

    await page.locator('form.send-back textarea').fill('Say it louder, please.');
    await page.locator('form.send-back button[type=submit]').click();
    await standing(2);
    expect(git(github.repository, 'show', `${head()}:src/greet/${issue}.ts`)).toContain('HELLO');
    await page.reload();
    await action(page, 'pr_approve', issue).click();
    await action(page, 'pr_approve', issue).waitFor({ state: 'detached' });
    // The second press is the confirmation.
    await action(page, 'pr_merge', issue).click();
    await page.locator('button.armed[data-part="pr_merge"]').waitFor();
    await expect
      .poll(async () => {
        const merge = part(page, 'pr_merge');
        if ((await merge.count()) > 0) await merge.click({ timeout: 1_000 }).catch(() => {});
        return github.pulls[0]?.state;
      }, patient)
      .toBe('MERGED');
    // No approval of a person's is written there.
    expect(github.pulls[0]?.reviews.map(({ author }) => author)).toEqual(['mallory']);
    await window.go('/');
    await rowOf(page, 'finished', issue).waitFor();
    window.expectNothingWrong();
    expect(github.complaints).toEqual([]);
  });
});
