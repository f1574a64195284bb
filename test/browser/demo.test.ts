// @module-tag full
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, type Scene, startDemo } from './scenes.ts';
import { barriersOf, onPhone, picture } from './screens.ts';
import {
  action,
  band,
  goToScreen,
  openTab,
  openWindow,
  part,
  patient,
  reads,
  rowOf,
  settled,
  type Window,
} from './window.ts';

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

  it('answers at the printed address, and shows in the queue why each candidate waits', async () => {
    await window.go('/queue');
    // All slots are taken, or it waits for another one.
    const row = page.locator('.queue-row', { has: page.locator('.why', { hasText: /3 \D+ 3|WORDS-2/ }) }).first();
    await row.waitFor();
    await picture(page, 'queue', scene);
    await part(row, 'explain').click();
    await page.locator('.why-here .gates summary').waitFor();
    window.expectNothingWrong();
  });

  it('shows what needs a person, what runs, what waits and what finished', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('n');
    await action(rowOf(page, 'needs_you', 'WORDS-10'), 'question_answer', 'WORDS-10').waitFor({ timeout: 60_000 });
    await reads(page.locator('.vitals'), /\d \S+ 3\b/);
    await expect.poll(() => band(page, 'finished').locator('li.row').count(), patient).toBeGreaterThan(0);
    await expect.poll(() => band(page, 'running').locator('li.row').count(), patient).toBeGreaterThan(0);
    expect(await page.title()).toMatch(/^\(\d\) .+ · Baton$/);
    await picture(page, 'now', scene);
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture(page, 'now-dark', scene);
    await page.emulateMedia({ colorScheme: 'light' });
    await goToScreen(page, '/board');
    await reads(page.locator('.card', { hasText: 'WORDS-10' }), /asking/);
    await part(page, 'done').waitFor();
    await picture(page, 'board', scene);
    await goToScreen(page, '/');
    await rowOf(page, 'needs_you', 'WORDS-10').locator('[data-row]').click();
    await page.getByRole('heading', { name: /WORDS-10 Add shout/ }).waitFor();
    await action(page, 'question_answer', 'WORDS-10').waitFor();
    await page.locator('.track .bar.question').first().waitFor();
    await picture(page, 'issue', scene);
    window.expectNothingWrong();
  });

  // @conforms dashboard.20
  it('fits a phone: nothing is cut off, and a question can be answered by touch', async () => {
    await using phone = await openWindow(browser(), scene.url, onPhone);
    await phone.go('/');
    const row = rowOf(phone.page, 'needs_you', 'WORDS-10');
    await action(row, 'question_answer', 'WORDS-10').waitFor();
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
    await row.getByText('read the code first').tap();
    await action(row, 'question_answer', 'WORDS-10').tap();
    // The other window shows it without a reload.
    const state = async (): Promise<string> => (await ask(scene, 'projects/demo/issues/WORDS-10')).state;
    await expect.poll(state, { timeout: 120_000 }).toBe('done');
    // The size of its change, which leads to it.
    const change = part(rowOf(phone.page, 'finished', 'WORDS-10'), 'change');
    await reads(change, /\+[1-9]\d*\s+−\d+/);
    expect(await change.getAttribute('href')).toMatch(/^\/review\/demo\/\d+$/);
    phone.expectNothingWrong();
  });

  it('shows a finished issue with its timeline, transcript, diff and cost', async () => {
    await reads(page.locator('.issue-side'), /✓ done/);
    await page.locator('.track .bar').first().waitFor();
    await openTab(page, 'transcript');
    await reads(page.locator('section.transcript'), /read the code first/);
    const { description } = await ask(scene, 'projects/demo/issues/WORDS-10');
    const [beginning] = description.split('.');
    await reads(page.locator('.description'), beginning);
    await openTab(page, 'questions');
    await reads(page.locator('main'), /read the code first/);
    await openTab(page, 'history');
    await reads(page.locator('.past-list'), /in progress → review/);
    await openTab(page, 'cost');
    await reads(page.locator('main'), /\b2\.3k\b/);
    await openTab(page, 'timeline');
    await page.locator('.track').first().waitFor();
    await page.locator('li a[data-row]').first().click();
    await page.getByRole('heading', { name: /WORDS-10 Add shout/ }).waitFor();
    await page.locator('.run-steps').waitFor();
    await reads(page.locator('section.transcript'), /read the code first/);
    await picture(page, 'run', scene);
    await openTab(page, 'events');
    await reads(page.locator('.run-events'), /turn completed/);
    await openTab(page, 'tools');
    await reads(page.locator('main'), /create_pr/);
    await openTab(page, 'prompt');
    await reads(page.locator('.prompts'), beginning);
    window.expectNothingWrong();
  });

  it('leaves a change to the person, who reviews it', async () => {
    await window.go('/');
    await rowOf(page, 'needs_you', 'WORDS-3').locator('a[href^="/review/"]').click();
    await page.locator('.diff .code-keyword').first().waitFor();
    await page.locator('.comment-on').nth(1).click();
    await page.keyboard.type('Why twelve?');
    await page.keyboard.press('Control+Enter');
    await page.locator('.comments-to-send').waitFor();
    await page.evaluate('scrollTo(0, 0)');
    await picture(page, 'review', scene);
    expect(await barriersOf(page)).toEqual([]);
    window.expectNothingWrong();
  });

  it('shows the costs and the health of Baton', async () => {
    await goToScreen(page, '/costs');
    await reads(page.locator('main'), /WORDS-10\s+Add shout/);
    await picture(page, 'costs', scene);
    await goToScreen(page, '/system');
    await settled(page);
    await picture(page, 'system', scene);
    const tabs: Readonly<Record<string, RegExp>> = {
      jobs: /tracker.poll/,
      requests: /./,
      accounts: /spare/,
      configuration: /agent\.backend[\s\S]*rehearsal/,
      prompts: /WORKFLOW\.md[\s\S]*of \d+ \(\d+–\d+ %\)/,
      salvage: /./,
      commands: /./,
    };
    for (const [tab, words] of Object.entries(tabs)) {
      await openTab(page, tab);
      await reads(page.locator('main'), words);
    }
    window.expectNothingWrong();
  });

  it('finds words in issues and transcripts, and screens by name', async () => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('slugify');
    await part(page, 'search').click();
    await page.waitForURL(/\/search\?/);
    await reads(page.locator('.found'), /WORDS-2[\s\S]*src\/slugify\.js/);
    // Words that only the agent used.
    await page.getByRole('searchbox').fill('wrote src');
    await reads(page.locator('.found'), /wrote src/);
    await part(page, 'in_issues').click();
    await expect.poll(() => page.locator('.found > li').count(), patient).toBe(0);
    await part(page, 'in_runs').click();
    await reads(page.locator('.found'), /wrote src/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await reads(part(page, 'keys').locator('kbd'), /^\?$/m);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('board');
    await page.keyboard.press('Enter');
    await part(page, 'review').waitFor();
    await part(page, 'done').click();
    await page.getByRole('link', { name: 'WORDS-2: Add slugify' }).waitFor();
    window.expectNothingWrong();
  });

  // @conforms dashboard.21
  it('has no serious accessibility problem on any screen, light or dark', async () => {
    const { runs } = await ask(scene, 'projects/demo/runs?limit=1');
    const run = `/run/demo/${runs[0].run_id}`;
    const issue = '/issue/demo/WORDS-10';
    const ofIssue = ['timeline', 'transcript', 'diff', 'questions', 'messages', 'history', 'cost'];
    const ofRun = ['transcript', 'events', 'tools', 'diff', 'prompt'];
    const ofSystem = ['health', 'jobs', 'requests', 'accounts', 'configuration', 'prompts', 'salvage', 'commands'];
    const paths = [
      ...['/', '/board?open=done', '/queue', '/tasks', '/costs', '/search?q=slugify'],
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
