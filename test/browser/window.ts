import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** A person's window on a dashboard, and everything that must not happen in it. */
export interface Window extends AsyncDisposable {
  readonly page: Page;
  /** Errors of the console and of scripts, dialogs, and requests to anywhere but the daemon. */
  readonly wrong: string[];
  /** Goes to an address of the dashboard, as typed. */
  go(path: string): Promise<void>;
  /** Fails with what must not have happened, and forgets it. */
  expectNothingWrong(): void;
}

/** As the pictures of the documents have it. */
const size = { width: 1280, height: 860 };
const patienceMs = 20_000;

export async function openWindow(browser: Browser, url: string, more: BrowserContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({ viewport: size, colorScheme: 'light', reducedMotion: 'reduce', ...more });
  context.setDefaultTimeout(patienceMs);
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => wrong.push(`script: ${error.message}`));
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('page', (other) => wrong.push(`window: ${other.url()}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== url) wrong.push(`request: ${request.url()}`);
  });
  return {
    page,
    wrong,
    go: async (path) => void (await page.goto(url + path, { waitUntil: 'domcontentloaded' })),
    expectNothingWrong: () => expect(wrong.splice(0)).toEqual([]),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** The text of something, once it has these words. */
export async function reads(locator: Locator, words: string | RegExp): Promise<void> {
  await expect.poll(() => locator.allInnerTexts().then((all) => all.join('\n')), patient).toMatch(words);
}

/** How long something is waited for that follows from what was done. */
export const patient = { timeout: patienceMs, interval: 50 };

/** A band of the Now screen. */
export function band(page: Page, title: string): Locator {
  return page.locator('section', { has: page.getByRole('heading', { name: new RegExp(`^${title}`) }) });
}

/** The row of an issue on the Now screen. */
export function rowOf(page: Page, title: string, identifier: string): Locator {
  return band(page, title).locator('li.row', {
    has: page.locator('.issue', { hasText: new RegExp(`^${identifier}$`) }),
  });
}

/** Opens a part of the Issue, Run or System screen. */
export async function openTab(page: Page, name: string): Promise<void> {
  await page
    .locator('nav.tabs')
    .getByRole('link', { name: new RegExp(`^${name}`) })
    .click();
}

/** What a screen says while it has nothing to show. */
const still = /^(Asking the daemon.*|Asking for the queue|Reading the (transcript|prompt|workspace)|Looking)\.$/m;

/** Resolves when a screen has what it shows. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor({ state: 'attached' });
  await expect.poll(() => page.locator('main').innerText(), patient).not.toMatch(still);
}
