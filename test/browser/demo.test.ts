import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, type Scene, startDemo } from './scenes.ts';
import { barriersOf, picture } from './screens.ts';
import { band, openTab, openWindow, patient, reads, rowOf, settled, type Window } from './window.ts';

leaveNoPlaces();

describeInChromium('the dashboard of the demo', (browser) => {
  let scene: Scene;
  let window: Window;
  let page: Page;
  beforeAll(async () => {
    scene = await startDemo();
    window = await openWindow(browser(), scene.url);
    page = window.page;
  }, 60_000);
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    scene?.[Symbol.dispose]();
  });

  it('is at the address that it prints, and tells in the queue why each candidate waits', async () => {
    await window.go('/queue');
    const row = page.locator('.queue-row', { hasText: /no slot \(3 of 3\)|waits for WORDS-2/ }).first();
    await row.waitFor();
    await picture(page, 'queue', scene);
    await row.getByRole('link', { name: /^Explain WORDS-/ }).click();
    await page.getByRole('heading', { name: 'Why it is here' }).waitFor();
    await page.getByText(/gates? lets? it pass/).waitFor();
    window.expectNothingWrong();
  });

  it('shows what needs a person, what runs, what waits and what has landed', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('n');
    await rowOf(page, 'Needs you', 'WORDS-10').getByRole('button', { name: 'Answer: WORDS-10' }).waitFor();
    await reads(page.locator('main'), /Slots\s+\d of 3/);
    await expect.poll(() => band(page, 'Landed today').locator('li.row').count(), patient).toBeGreaterThan(0);
    await expect.poll(() => band(page, 'Running').locator('li.row').count(), patient).toBeGreaterThan(1);
    expect(await page.title()).toMatch(/^\(\d\) Now · Baton$/);
    await picture(page, 'now', scene);
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'now-dark', scene);
    await page.emulateMedia({ colorScheme: 'light' });
    await rowOf(page, 'Needs you', 'WORDS-10')
      .getByRole('link', { name: /WORDS-10/ })
      .click();
    await page.getByRole('heading', { name: /WORDS-10 Add shout/ }).waitFor();
    await page.getByRole('button', { name: 'Answer: WORDS-10' }).waitFor();
    await page.locator('.track .bar.question').first().waitFor();
    await picture(page, 'issue', scene);
    window.expectNothingWrong();
  });

  it('fits a phone: nothing is cut off at the side, and the question is answered with a thumb', async () => {
    await using phone = await openWindow(browser(), scene.url, {
      ...{ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
    });
    await phone.go('/');
    const row = rowOf(phone.page, 'Needs you', 'WORDS-10');
    await row.getByRole('button', { name: 'Answer: WORDS-10' }).waitFor();
    await picture(phone.page, 'now-phone', scene);
    expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    for (const button of await row.getByRole('button').all()) {
      const box = await button.boundingBox();
      expect(box, await button.innerText()).not.toBeNull();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
      expect(box?.height).toBeGreaterThanOrEqual(24);
    }
    expect(await barriersOf(phone.page)).toEqual([]);
    await row.getByText('one is plenty').tap();
    await row.getByRole('button', { name: 'Answer: WORDS-10' }).tap();
    // The other window sees it without being asked.
    await expect.poll(() => scene.daemon.stdout(), { timeout: 60_000 }).toContain(' WORDS-10 done');
    await rowOf(phone.page, 'Landed today', 'WORDS-10').waitFor();
    phone.expectNothingWrong();
  });

  it('shows a ticket that was done: its runs in time, what was said, what was changed, what it cost', async () => {
    await reads(page.locator('.issue-heading'), /done/);
    await page.locator('.track .bar').first().waitFor();
    await openTab(page, 'Transcript');
    await reads(page.getByRole('region', { name: 'Transcript' }), /answered: one is plenty/);
    await openTab(page, 'Ticket');
    await reads(page.locator('.ticket'), /Capitals and an exclamation mark/);
    await openTab(page, 'Questions');
    await reads(page.locator('main'), /one is plenty/);
    await openTab(page, 'History');
    await reads(page.locator('.past-list'), /status in progress → review by the agent/);
    await openTab(page, 'Cost');
    await reads(page.locator('main'), /in\s+2\.3k/);
    await openTab(page, 'Timeline');
    await page.locator('.track').first().waitFor();
    await page.locator('li a[data-row]').first().click();
    await page.getByRole('heading', { name: /^Run of WORDS-10/ }).waitFor();
    await reads(page.getByRole('region', { name: 'Events' }), /turn completed/);
    await picture(page, 'run', scene);
    await openTab(page, 'Tool calls');
    await reads(page.locator('main'), /update_issue_status/);
    await openTab(page, 'Prompt');
    await reads(page.locator('.prompts'), /Capitals and an exclamation mark/);
    window.expectNothingWrong();
  });

  it('shows what was used, and how Baton itself is', async () => {
    await page.getByRole('link', { name: 'Costs', exact: true }).click();
    await reads(page.locator('main'), /By role[\s\S]*worker/i);
    await picture(page, 'costs', scene);
    await page.getByRole('link', { name: 'System', exact: true }).click();
    await reads(page.locator('main'), /healthy|well/i);
    await picture(page, 'system', scene);
    const tabs: Readonly<Record<string, RegExp>> = {
      Jobs: /tracker.poll/,
      Requests: /./,
      Accounts: /spare/,
      Configuration: /agent\.backend[\s\S]*rehearsal/,
      Salvage: /./,
      Commands: /./,
    };
    for (const [tab, words] of Object.entries(tabs)) {
      await openTab(page, tab);
      await reads(page.locator('main'), words);
    }
    window.expectNothingWrong();
  });

  it('finds a word in tickets and in what agents said, and every screen by typing', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('slugify');
    await page.getByRole('option', { name: /Search everything for/ }).click();
    await page.getByRole('heading', { name: 'Search' }).waitFor();
    await reads(page.locator('.found'), /WORDS-2[\s\S]*wrote src\/slugify\.js/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await reads(page.getByRole('dialog'), /show all keys/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('board');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'review' }).waitFor();
    await page.getByRole('button', { name: 'done' }).click();
    await page.getByRole('link', { name: 'WORDS-2: Add slugify' }).waitFor();
    await picture(page, 'board', scene);
    window.expectNothingWrong();
  });

  it('keeps nobody out: no screen has a serious barrier, in light and in dark', async () => {
    const { runs } = await ask(scene, 'projects/demo/runs?limit=1');
    const run = `/run/demo/${runs[0].run_id}`;
    const issue = '/issue/demo/WORDS-10';
    const ofIssue = ['timeline', 'transcript', 'diff', 'ticket', 'questions', 'history', 'cost'];
    const ofRun = ['events', 'transcript', 'tools', 'diff', 'prompt'];
    const ofSystem = ['health', 'jobs', 'requests', 'accounts', 'configuration', 'salvage', 'commands'];
    const paths = [
      ...['/', '/board?open=done', '/queue', '/costs'],
      ...ofSystem.map((tab) => `/system?tab=${tab}`),
      ...ofIssue.map((tab) => `${issue}?tab=${tab}`),
      ...ofRun.map((tab) => `${run}?tab=${tab}`),
    ];
    const found: string[] = [];
    for (const path of paths) {
      await window.go(path);
      await settled(page);
      found.push(...(await barriersOf(page)));
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('re');
    found.push(...(await barriersOf(page)));
    expect(found).toEqual([]);
    window.expectNothingWrong();
  });
});
