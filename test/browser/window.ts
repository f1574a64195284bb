import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

/** A browser window with the dashboard, and a record of everything that must not happen in it. */
export interface Window extends AsyncDisposable {
  readonly page: Page;
  /** Errors of the console and of scripts, dialogs, and requests to anywhere but the daemon. */
  readonly wrong: string[];
  /** Goes to an address of the dashboard, as typed. */
  go(path: string): Promise<void>;
  /** Fails if anything was recorded that must not happen, and clears the record. */
  expectNothingWrong(): void;
}

/** The size of the screenshots in the docs. */
const size = { width: 1280, height: 860 };
const patienceMs = 60_000;

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

/** Waits until the text of an element matches. */
export async function reads(locator: Locator, words: string | RegExp): Promise<void> {
  await expect.poll(() => locator.allInnerTexts().then((all) => all.join('\n')), patient).toMatch(words);
}

/** How long a test waits for an effect. */
export const patient = { timeout: patienceMs, interval: 50 };

/** An element by its stable code (`data-part`), independent of its text. */
export function part(within: Page | Locator, name: string): Locator {
  return within.locator(`[data-part="${name}"]`);
}

/** The button of an action on an issue or a project, which its name contains. */
export function action(within: Page | Locator, name: string, about: string): Locator {
  return within.getByRole('button', { name: new RegExp(`\\b${about}\\b`) }).and(part(within, name));
}

/** A band of the Now screen. */
export function band(page: Page, name: BandName): Locator {
  return part(page.locator('main'), name).and(page.locator('section.band'));
}

type BandName = 'needs_you' | 'running' | 'waiting' | 'finished';

/** The row of an issue on the Now screen. */
export function rowOf(page: Page, name: BandName, identifier: string): Locator {
  return band(page, name).locator('li.row', {
    has: page.locator('.issue', { hasText: new RegExp(`^${identifier}$`) }),
  });
}

/** Opens a tab of the Issue, Run or System screen, by its name in the address. */
export async function openTab(page: Page, name: string): Promise<void> {
  await part(page.locator('nav.tabs'), name).click();
}

/** Goes to a screen by the navigation at the top. */
export async function goToScreen(page: Page, path: string): Promise<void> {
  await page.locator(`nav.screens a[href^="${path}"]`).first().click();
}

/** Resolves when a screen has loaded its data. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor({ state: 'attached' });
  await expect.poll(() => page.locator('main [aria-busy="true"]').count(), patient).toBe(0);
}
