// @module-tag full
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, BoardScene, script, waitFor } from './scenes.ts';
import { barriersOf, onPhone } from './screens.ts';
import { action, openTab, openWindow, part, patient, reads, settled, type Window } from './window.ts';

leaveNoPlaces();

describeInChromium('the pages of an issue and of its runs', (browser) => {
  const scene = new BoardScene();
  let window: Window;
  let page: Page;
  beforeAll(async () => {
    await scene.start();
    window = await openWindow(browser(), scene.url);
    page = window.page;
  }, 60_000);
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    scene[Symbol.dispose]();
  });
  const field = (name: string): Locator => page.locator(`form.note[data-part="${name}"] textarea`);
  const armed = (name: string): Locator => page.locator(`button.armed[data-part="${name}"]`);
  const focused = (): Promise<string | undefined> =>
    page.evaluate('document.activeElement?.closest("[data-part]")?.dataset.part');
  const box = async (locator: Locator): Promise<{ left: number; right: number; top: number; bottom: number }> => {
    const { x, y, width, height } = (await locator.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    return { left: x, right: x + width, top: y, bottom: y + height };
  };
  const runsOf = async (id: string): Promise<readonly { readonly run_id: string }[]> =>
    (await ask(scene, `projects/live/issues/${id}`)).runs;

  // @conforms dashboard.54
  it('shows what is asked first, the properties at the side, and one primary action', async () => {
    const steps = ['say I am at work', 'append README.md', '| more', 'first fail The runner broke', waitFor('never')];
    const id = await scene.fileText(
      'Fails first',
      `Please do **this**.\n\n${script(steps)}`,
      '--priority',
      '1',
      '--label',
      'red',
    );
    await window.go(`/issue/live/${id}`);
    await part(page.locator('.why-here'), 'retry').waitFor();
    const side = page.locator('.issue-side');
    await reads(side, /P1[\s\S]*red[\s\S]*rehearsal[\s\S]*baton\/bat-1[\s\S]*\+1 −0/);
    await reads(page.locator('.last-words'), /The runner broke/);
    const asked = await box(page.locator('.description'));
    expect((await box(page.locator('nav.tabs'))).top).toBeGreaterThan(asked.bottom);
    expect((await box(side)).left).toBeGreaterThan(asked.right);
    expect(await page.locator('.issue-commands .main').evaluateAll((all) => all.map((it) => it.dataset.part))).toEqual([
      'issue_retry',
    ]);
    window.expectNothingWrong();
  });

  it('takes a comment of several lines with Ctrl+Enter', async () => {
    await page.keyboard.press('c');
    await page.keyboard.type('the first line');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.keyboard.type('the second line');
    expect(await page.locator('.comments li').count()).toBe(0);
    await page.keyboard.press('Control+Enter');
    await reads(page.locator('.comments li'), /the first line[\s\S]*the second line/);
    await expect.poll(() => field('issue_comment').inputValue(), patient).toBe('');
    expect(await focused()).toBe('issue_comment');
    await page.keyboard.press('Escape');
    window.expectNothingWrong();
  });

  // @conforms dashboard.55
  it('shows a failed run by its title, with the failed step open and the transcript first', async () => {
    await page.locator('.last-words a').click();
    await page.getByRole('heading', { level: 1, name: 'BAT-1 Fails first' }).waitFor();
    const [{ run_id }] = (await runsOf('BAT-1')) as [{ run_id: string }];
    expect(await page.locator('h1').innerText()).not.toContain(run_id);
    const failed = page.locator('.run-steps [data-step=turn][data-result=failed]');
    await reads(failed, /The runner broke/);
    await reads(page.locator('section.transcript'), /I am at work/);
    // The steps show the stages, so the transcript leaves them out until all is wanted.
    const firstSeq = (): Promise<string | null> =>
      page.locator('section.transcript [data-seq]').first().getAttribute('data-seq');
    expect(Number(await firstSeq())).toBeGreaterThan(1);
    await page.locator('section.transcript .choice input').check();
    await expect.poll(firstSeq, patient).toBe('1');
    await page.locator('section.transcript .choice input').uncheck();
    const work = page.locator('.run-steps > ol > [data-result=failed] > button');
    expect(await work.getAttribute('aria-expanded')).toBe('true');
    await work.focus();
    await page.keyboard.press('Enter');
    await failed.waitFor({ state: 'detached' });
    await work.click();
    await failed.waitFor();
    window.expectNothingWrong();
  });

  // @conforms dashboard.56
  it('has a permanent address for each event, and a file of all of them', async () => {
    await page.locator('.entry', { hasText: 'I am at work' }).locator('.permalink').click();
    await reads(page.locator('.event-detail'), /I am at work/);
    const address = page.url();
    expect(address).toMatch(/tab=events&seq=\d+/);
    await page.reload();
    await reads(page.locator('.event-detail'), /I am at work/);
    expect(page.url()).toBe(address);
    const download = async (name: string): Promise<string> => {
      const [file] = await Promise.all([page.waitForEvent('download'), part(page, name).click()]);
      return readFileSync(await file.path(), 'utf8');
    };
    expect(await download('download_log')).toContain('The runner broke');
    const lines = (await download('download_json')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual(lines.map((_, index) => index + 1));
    window.expectNothingWrong();
  });

  // @conforms dashboard.57
  it('retries from the page of the run by its key, and shows the wait between the runs on one axis', async () => {
    await page.keyboard.press('r');
    await part(page, 'later_run').click();
    await part(page, 'issue_steer').waitFor();
    await reads(page.locator('.run-steps [data-result=running]').first(), /\S/);
    await part(page, 'earlier_run').waitFor();
    await page.locator('h1 a').click();
    await page.locator('.waterfall li').nth(1).waitFor();
    const row = page.locator('.waterfall li');
    await expect.poll(() => page.locator('.waterfall .run-box').count(), patient).toBe(2);
    const [second, first] = [await box(row.nth(0).locator('.run-box')), await box(row.nth(1).locator('.run-box'))];
    const wait = await box(row.nth(0).locator('.bar.wait'));
    expect(wait.left).toBeGreaterThanOrEqual(first.right - 5);
    expect(second.left).toBeGreaterThanOrEqual(wait.right - 5);
    expect(wait.right).toBeGreaterThan(wait.left);
    window.expectNothingWrong();
  });

  // @conforms dashboard.58
  it('takes the question of a button back by itself, and moves nothing', async () => {
    const others = async () =>
      Promise.all(['issue_takeover', 'issue_hold'].map((name) => box(action(page, name, 'BAT-1'))));
    const before = await others();
    await page.keyboard.press('s');
    await armed('issue_stop').locator('.confirmation').waitFor();
    expect(await others()).toEqual(before);
    expect(await barriersOf(page)).toEqual([]);
    await armed('issue_stop').waitFor({ state: 'detached' });
    expect(await focused()).toBe('issue_stop');
    expect(await runsOf('BAT-1')).toMatchObject([{ outcome: null }, {}]);
    window.expectNothingWrong();
  });

  // @conforms dashboard.59
  it('steers, stops and retries by keys', async () => {
    await page.keyboard.press('t');
    await expect.poll(() => field('issue_steer').evaluate((it) => it.matches(':focus')), patient).toBe(true);
    await page.keyboard.press('Escape');
    await page.keyboard.press('s');
    await armed('issue_stop').waitFor();
    // A second press sooner than this is a double click.
    await page.waitForTimeout(450);
    await page.keyboard.press('s');
    await part(page.locator('.why-here'), 'held').waitFor();
    await part(page.locator('.waterfall'), 'waits_now').waitFor();
    await page.keyboard.press('Shift+R');
    await page.keyboard.type('go on');
    await page.keyboard.press('Control+Enter');
    await page.locator('.live').waitFor();
    await part(page, 'issue_retry').waitFor({ state: 'detached' });
    // It is not possible now, and says so.
    await page.keyboard.press('r');
    await page.locator('.notice').waitFor();
    window.expectNothingWrong();
  });

  // @conforms dashboard.59
  it('goes to the question by a key, and sends an answer of several lines', async () => {
    const id = await scene.file('Asks', ['ask What should it say?', waitFor('never')]);
    await window.go(`/issue/live/${id}`);
    await action(page, 'question_answer', id).waitFor();
    await reads(part(page.locator('nav.tabs'), 'questions'), /1/);
    await page.keyboard.press('a');
    await page.keyboard.type('one');
    await page.keyboard.press('Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Control+Enter');
    await action(page, 'question_answer', id).waitFor({ state: 'detached' });
    const { questions } = await ask(scene, `projects/live/issues/${id}`);
    expect(Object.values(questions[0].answer.values)).toEqual(['one\ntwo']);
    await openTab(page, 'questions');
    await reads(page.locator('.past-list'), /one\s+two/);
    window.expectNothingWrong();
  });

  it('draws a large change as it is read, in the colours of its language', async () => {
    const make = [
      'write make.sh',
      '| mkdir large',
      "| for n in 1 2 3 4 5 6 7 8; do seq 200 | sed 's/^/const a = /' > large/f$n.ts; done",
    ];
    const id = await scene.file('Large', [...make, 'run sh make.sh', 'say It is large', waitFor('never')]);
    await window.go(`/issue/live/${id}`);
    await page.locator('.live').getByText('It is large').waitFor();
    await openTab(page, 'diff');
    const files = page.locator('.diff-file', { hasText: 'large/' });
    await expect.poll(() => files.count(), patient).toBe(8);
    expect(await page.locator('.diff tr').count()).toBeLessThan(1_000);
    await files.first().scrollIntoViewIfNeeded();
    await files.first().locator('.code-keyword').first().waitFor();
    expect(await files.last().locator('.code-keyword').count()).toBe(0);
    // The key of the tree, and the file that is chosen there.
    await page.keyboard.press('f');
    await part(page, 'file_tree').getByRole('button', { name: 'f8.ts' }).click();
    await files.last().locator('.code-keyword').first().waitFor();
    window.expectNothingWrong();
  });

  it('shows a finished issue as a success', async () => {
    const id = await scene.fileText('Over', 'Nothing to do.', '--status', 'backlog');
    await window.go(`/issue/live/${id}`);
    await action(page, 'issue_move', id).waitFor();
    await page.keyboard.press('m');
    await part(page, 'issue_move').locator('button', { hasText: /done/i }).click();
    await part(page.locator('.why-here'), 'success').waitFor();
    expect(await page.locator('main').innerText()).not.toContain('✕');
    window.expectNothingWrong();
  });

  it('leads on from an issue and a run that do not exist', async () => {
    for (const path of ['/issue/live/BAT-99', '/run/live/none']) {
      await window.go(path);
      await part(page, 'missing').getByRole('link').first().click();
      await page.waitForURL(/\/board/);
    }
    // The browser reports each answer 404.
    expect(window.wrong.splice(0).filter((text) => !/\b404\b/.test(text))).toEqual([]);
  });

  it('fits a phone, and has no serious accessibility problem', async () => {
    const [{ run_id }] = (await runsOf('BAT-1')) as [{ run_id: string }];
    await using phone = await openWindow(browser(), scene.url, onPhone);
    for (const path of ['/issue/live/BAT-1', '/issue/live/BAT-3', `/run/live/${run_id}`]) {
      await phone.go(path);
      await settled(phone.page);
      expect(await phone.page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(390);
    }
    expect(await barriersOf(phone.page)).toEqual([]);
    phone.expectNothingWrong();
  });
});
