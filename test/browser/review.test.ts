// @module-tag full
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answer } from '../cli/live-daemon.ts';
import { batonCommand, leaveNoPlaces, startProgram } from '../cli/run-baton.ts';
import { git } from '../workspace/git/scratch-repository.ts';
import { describeInChromium } from './chromium.ts';
import { attacks, escapes, expectHarmlessPage, tricks } from './hostile-text.ts';
import { ReviewScene } from './review-scene.ts';
import { barriersOf, onPhone } from './screens.ts';
import { action, openWindow, part, patient, reads, rowOf, settled } from './window.ts';

leaveNoPlaces();

describeInChromium('the review of a change', (browser) => {
  const scene = new ReviewScene();
  beforeAll(() => scene.start(), 60_000);
  afterAll(() => scene[Symbol.dispose]());

  /** Waits until the change of an issue stands in review with green checks, in this round. */
  const standing = async (issue: string, round: number): Promise<void> =>
    expect
      .poll(() => scene.pull(issue), { timeout: 60_000, interval: 200 })
      .toMatchObject({ status: 'in_review', checks: 'green', times_sent_back: round - 1 });
  const file = (page: Page, name: string) => page.locator('.diff-file', { hasText: name });
  const line = (page: Page, name: string, number: number) =>
    file(page, name).locator(`.comment-on[data-line="${number}"]`);
  const rounds = (page: Page) => page.locator('.review-rounds > li');
  const said = (page: Page) => page.locator('.review-rounds [data-status="delivered"]');
  /** What must hold at the end: the louder greeting is in the base, and the issue is done. */
  const expectMerged = async (issue: string): Promise<void> => {
    await expect
      .poll(async () => (await answer(scene.place, 'issue', 'show', issue)).issue.status, patient)
      .toBe('done');
    expect(scene.merged(`src/greet/${issue}.ts`)).toContain('HELLO');
    const pull = await scene.pull(issue);
    expect(pull).toMatchObject({ status: 'merged', rounds: [{ sent_back: { kind: 'person' } }, { sent_back: null }] });
    expect(pull.rounds[0].said).toMatchObject([
      { kind: 'note', status: 'delivered' },
      { kind: 'review_comment', path: `src/greet/${issue}.ts`, line: 3, status: 'delivered' },
    ]);
  };

  // @conforms dashboard.47
  it('is done by mouse, from the row on Now to the merge', { tags: ['smoke'] }, async () => {
    const issue = await scene.file('Greet', []);
    await standing(issue, 1);
    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    await window.go('/');
    const row = rowOf(page, 'needs_you', issue);
    await row.locator('a[href^="/review/"]').click();
    await page.waitForURL(/\/review\/live\/\d+$/);
    await settled(page);
    await reads(page.locator('main'), /What is to be done, in Markdown/);
    await page.locator('main strong', { hasText: 'hello' }).waitFor();
    await part(page, 'open_in_editor').locator('a[href^="vscode://file/"]').waitFor();
    expect(await barriersOf(page)).toEqual([]);

    // A check runs again on the same commit.
    const endOf = async () => (await scene.pull(issue)).rounds[0].checks[0].ended_at;
    const before = await endOf();
    await action(page, 'pr_check', issue).click();
    await expect.poll(endOf, patient).not.toBe(before);
    await standing(issue, 1);

    // The tree leads to the file, which has colours.
    await part(page, 'file_tree')
      .getByRole('button', { name: `${issue}.ts` })
      .click();
    await file(page, `${issue}.ts`).locator('.code-keyword', { hasText: 'function' }).waitFor();
    await line(page, `${issue}.ts`, 3).click();
    await page.keyboard.type('not like that');
    await page.locator('.diff tr.comment .actions button').first().click();
    await reads(page.locator('.comments-to-send'), new RegExp(`src/greet/${issue}\\.ts:3`));
    await reads(part(page, 'file_tree').locator('.count'), /^1\b/);
    await page.locator('form.send-back textarea').fill('Say it louder, please.');
    expect(await barriersOf(page)).toEqual([]);
    await page.locator('form.send-back button[type=submit]').click();

    // The second round appears by itself.
    await standing(issue, 2);
    await expect.poll(() => rounds(page).count(), patient).toBe(2);
    await expect.poll(() => said(page).count(), patient).toBe(2);
    await reads(page.locator('.diff-view'), /HELLO/);
    await rounds(page).nth(1).getByRole('button').click();
    await reads(page.locator('.diff-view tr.removed'), /hello/);
    await rounds(page).nth(1).getByRole('button').click();
    await page.locator('.comment-on').first().waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.reload();
    await action(page, 'pr_approve', issue).click();
    await action(page, 'pr_approve', issue).waitFor({ state: 'detached' });
    await pressTwice(page, () => action(page, 'pr_merge', issue).click());
    await expectMerged(issue);
    await page.locator('.review-decision').waitFor({ state: 'detached' });
    await window.go('/');
    await rowOf(page, 'finished', issue).waitFor();
    window.expectNothingWrong();
  });

  it('shows the command for the folder that has the base checked out, which merges it there', async () => {
    const issue = await scene.file('Greet', []);
    await standing(issue, 1);
    git(scene.source, 'checkout', '--quiet', 'main');
    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    await window.go(`/review/live/${issue}`);
    const shown = page.locator('.review-commands code');
    await reads(shown, /^cd \S+ && baton pr merge \d+/);
    expect(await action(page, 'pr_merge', issue).count()).toBe(0);
    await page.keyboard.press('m');
    expect(await page.locator('.review-commands button:focus').count()).toBe(1);
    // As a person pastes it, in whatever folder they are.
    const command = (await shown.innerText()).replace('baton ', `${batonCommand()} `);
    expect(await startProgram(scene.place, 'sh', ['-c', `cd / && ${command}`]).ended).toMatchObject({ code: 0 });
    await page.locator('.review-decision').waitFor({ state: 'detached' });
    expect(scene.merged(`src/greet/${issue}.ts`)).toContain('hello');
    git(scene.source, 'checkout', '--quiet', '--detach');
    window.expectNothingWrong();
  });

  it('sends a change that conflicts with its base back to be rebased, with one key', async () => {
    const issue = await scene.file('Greet', []);
    await standing(issue, 1);
    scene.commitToBase({ [`src/greet/${issue}.ts`]: 'something else\n' });
    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    // The page of the issue knows about the conflict, and its one main action leads to the review.
    await window.go(`/issue/live/${issue}`);
    await page.locator('.review-bar .status.broken').waitFor();
    expect(await page.locator('.issue-page .main').count()).toBe(1);
    await part(page, 'review_change').click();
    await page.waitForURL(/\/review\/live\/\d+$/);
    await part(page, 'rebase').waitFor();
    expect(await action(page, 'pr_merge', issue).count()).toBe(0);
    await page.keyboard.press('r');
    await expect
      .poll(() => scene.pull(issue), patient)
      .toMatchObject({ times_sent_back: 1, rounds: [{ sent_back: { kind: 'person' }, said: [{ kind: 'note' }] }] });
    window.expectNothingWrong();
  });

  // @conforms dashboard.48
  it('is done by keyboard alone', async () => {
    const issue = await scene.file('Greet', []);
    await standing(issue, 1);
    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    await window.go('/');
    await rowOf(page, 'needs_you', issue).locator('a[href^="/review/"]').waitFor();
    const focused = (what: string): Promise<boolean> =>
      page.evaluate(`document.activeElement.matches(${JSON.stringify(what)})`);
    await press(page, 'j', () => focused('[data-part=needs_you] [data-row]'));
    await press(page, 'Tab', () => focused('a[href^="/review/"]'));
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/review\/live\/\d+$/);
    await page.locator('.comment-on').first().waitFor();

    await page.keyboard.press('f');
    await press(page, 'j', () => focused(`.diff-tree button`));
    // The tree is in the order of the files: the first is in docs, the second is the code.
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await press(page, 'j', () => focused('.comment-on[data-line="3"]'));
    await page.keyboard.press('c');
    await page.keyboard.type('not like that');
    await page.keyboard.press('Control+Enter');
    await page.locator('.comments-to-send').waitFor();
    expect(await focused('.comment-on[data-line="3"]')).toBe(true);
    await page.keyboard.press('s');
    await page.keyboard.type('Say it louder, please.');
    await page.keyboard.press('Control+Enter');

    await standing(issue, 2);
    await expect.poll(() => said(page).count(), patient).toBe(2);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await reads(part(page, 'keys').locator('kbd'), /^m$/m);
    await page.keyboard.press('Escape');
    await page.keyboard.press('a');
    await action(page, 'pr_approve', issue).waitFor({ state: 'detached' });
    await pressTwice(page, () => page.keyboard.press('m'));
    await expectMerged(issue);
    window.expectNothingWrong();
  });

  // @conforms dashboard.49
  it('is done on a phone, where nothing is cut off', async () => {
    const issue = await scene.file('Greet', []);
    await standing(issue, 1);
    await using window = await openWindow(browser(), scene.url, onPhone);
    const { page } = window;
    const fits = async (): Promise<void> =>
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await window.go('/');
    await rowOf(page, 'needs_you', issue).locator('a[href^="/review/"]').tap();
    await page.locator('.comment-on').first().waitFor();
    await fits();
    expect(await barriersOf(page)).toEqual([]);
    // The tree is folded.
    const tree = part(page, 'file_tree');
    expect(await tree.getByRole('button', { name: `${issue}.ts` }).isVisible()).toBe(false);
    await tree.locator('summary').first().tap();
    await tree.getByRole('button', { name: `${issue}.ts` }).tap();
    await line(page, `${issue}.ts`, 3).tap();
    await page.locator('.diff tr.comment textarea').fill('not like that');
    await fits();
    await page.locator('.diff tr.comment .actions button').first().tap();
    await page.locator('form.send-back textarea').fill('Say it louder, please.');
    await page.locator('form.send-back button[type=submit]').tap();
    await standing(issue, 2);
    await expect.poll(() => said(page).count(), patient).toBe(2);
    await fits();
    await action(page, 'pr_approve', issue).tap();
    await action(page, 'pr_approve', issue).waitFor({ state: 'detached' });
    await pressTwice(page, () => action(page, 'pr_merge', issue).tap());
    await expectMerged(issue);
    window.expectNothingWrong();
  });
});

const hostileName = '<img src=x onerror=window.hit=1>.ts';
const hugeLine = 'x'.repeat(60_000);
const hostileFiles: Readonly<Record<string, Buffer>> = {
  [hostileName]: Buffer.from(`${[...attacks, tricks, escapes].join('\n')}\nconst a = "\u202Efed\u202C";\r\n`),
  'huge.js': Buffer.from(`const ${hugeLine} = 1;\n`),
  '.github/<svg onload=window.hit=1>_a.yml': Buffer.from('on: push\n'),
  'picture.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1, 255, 254]),
  'page.html': Buffer.from(`${attacks.join('\n')}\n<!-- <script>window.hit=1</script> -->\n`),
  [`${'deep/'.repeat(40)}a\u202Eb.md`]: Buffer.from(`# ${attacks[0]}\n`),
};
const hostileAgent = [
  ...Object.entries(hostileFiles).flatMap(([name, content]) => [
    `mkdir -p "$(dirname '${name}')"`,
    `echo ${content.toString('base64')} | base64 -d > '${name}'`,
  ]),
  "git add -A && git commit -qm '<script>window.hit=1</script>'",
  `echo '${attacks.join(' ')}'`,
].join('\n');

describeInChromium('the review of a hostile change', (browser) => {
  const scene = new ReviewScene(hostileAgent);
  beforeAll(() => scene.start(), 60_000);
  afterAll(() => scene[Symbol.dispose]());

  // @conforms dashboard.50
  it('shows markup, reordered text, a huge line and a binary file harmlessly', async () => {
    const issue = await scene.fileText(`${attacks[1]} ${tricks}`, attacks.join('\n\n'));
    await expect.poll(async () => (await scene.pull(issue)).status, { timeout: 60_000 }).toBe('in_review');
    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    await window.go(`/review/live/${issue}`);
    await page.locator('.code-comment').first().waitFor();
    await reads(page.locator('.diff-view'), /<svg onload=window\.hit=1>/);
    await reads(page.locator('.diff-view'), /⟦U\+202E⟧fed/);
    // Among the facts that a person reads before the merge.
    await reads(
      page.locator('.issue-heading .status', { hasText: 'CI' }),
      /\.github\/<svg onload=window\.hit=1>_a\.yml/,
    );
    const huge = page.locator('.diff-file', { hasText: 'huge.js' });
    expect((await huge.innerText()).length).toBeLessThan(5_000);
    expect(await huge.locator('[class^=code-]').count()).toBe(0);
    await huge.locator('td.text button').click();
    await expect.poll(async () => (await huge.innerText()).includes(hugeLine), patient).toBe(true);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1280);
    await reads(page.locator('.diff-file', { hasText: 'picture.png' }), /binary/);
    await part(page, 'file_tree').locator('button', { hasText: '<img' }).waitFor();
    await expectHarmlessPage(page, 'review');
    for (const link of await page.locator('a[href^="vscode:"]').all())
      expect(await link.getAttribute('href')).toMatch(/^vscode:\/\/file\/[\w%./-]+$/);
    expect(await barriersOf(page)).toEqual([]);
    await window.go('/');
    await rowOf(page, 'needs_you', issue).waitFor();
    await expectHarmlessPage(page, 'now');
    window.expectNothingWrong();
  });
});

/** Presses until the merge is sent: the second press within a moment is a double click, and not a confirmation. */
async function pressTwice(page: Page, act: () => Promise<void>): Promise<void> {
  const merge = page.locator('button[data-part="pr_merge"]');
  const armed = page.locator('button.armed[data-part="pr_merge"]');
  // The button takes no press while another decision is under way.
  await expect
    .poll(async () => {
      if ((await armed.count()) + (await merge.count()) === 1) await act();
      return (await armed.count()) > 0 || (await merge.count()) === 0;
    }, patient)
    .toBe(true);
  await expect
    .poll(async () => {
      if ((await armed.count()) === 0) return true;
      await act();
      return false;
    }, patient)
    .toBe(true);
}

/** Presses a key until something holds. */
async function press(page: Page, key: string, holds: () => Promise<boolean>): Promise<void> {
  for (let times = 0; times < 40 && !(await holds()); times += 1) await page.keyboard.press(key);
  expect(await holds()).toBe(true);
}
