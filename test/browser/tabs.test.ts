// @module-tag full
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { BoardScene } from './scenes.ts';
import { band, part, reads } from './window.ts';

leaveNoPlaces();

/** More than the connections that a browser opens to one address. */
const tabs = 9;

describeInChromium('a browser with many tabs of the dashboard', (browser) => {
  const scene = new BoardScene();
  let context: BrowserContext;
  const pages: Page[] = [];
  beforeAll(async () => {
    await scene.start();
    context = await browser().newContext();
    context.setDefaultTimeout(60_000);
  }, 60_000);
  afterAll(async () => {
    await context?.close();
    scene[Symbol.dispose]();
  });

  /** Headless Chromium treats every page as visible; this hides one. */
  const show = (page: Page, state: 'visible' | 'hidden') =>
    page.evaluate(
      `Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
       document.dispatchEvent(new Event('visibilitychange'));`,
    );

  /** The text that says that a project is paused. */
  const paused = (page: Page) => page.locator('.vitals .paused[data-part="pause"]');

  // @conforms dashboard.28
  it('loads every tab and works in the last one, because hidden tabs close their connection', async () => {
    for (let count = 0; count < tabs; count += 1) {
      const page = await context.newPage();
      await page.goto(scene.url, { waitUntil: 'domcontentloaded' });
      await band(page, 'needs_you').waitFor();
      pages.push(page);
      if (count < tabs - 1) await show(page, 'hidden');
    }
    const last = pages.at(-1) ?? expect.fail('there is no page');
    await part(last, 'pause').click();
    await paused(last).waitFor();
  });

  it('shows the current state when a hidden tab becomes visible', async () => {
    const [first] = pages;
    if (first === undefined) return expect.fail('there is no page');
    await show(pages.at(-1) ?? first, 'hidden');
    const id = await scene.file('Filed meanwhile', ['say nothing']);
    await show(first, 'visible');
    await paused(first).waitFor();
    await reads(first.locator('main'), new RegExp(id));
    expect(await first.locator('.away').count()).toBe(0);
  });
});
