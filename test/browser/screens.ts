import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Scene } from './scenes.ts';
import { goToScreen, patient, settled, type Window } from './window.ts';

const images = fileURLToPath(new URL('../../docs/images/', import.meta.url));

/**
 * Takes a screenshot for the docs, without the names of this machine. It is written only with `BATON_SCREENSHOTS=1`:
 * a test run changes no file.
 */
export async function picture(page: Page, name: string, { place }: Scene): Promise<void> {
  const isKept = process.env.BATON_SCREENSHOTS === '1';
  if (isKept) mkdirSync(images, { recursive: true });
  const names = { folder: place.folder, host: hostname() };
  // No row looks as if somebody pointed at it.
  await page.mouse.move(0, 0);
  await page.evaluate(`(${rename})(${JSON.stringify(names)})`);
  const taken = await page.screenshot(isKept ? { path: path.join(images, `${name}.png`) } : {});
  expect(taken.length).toBeGreaterThan(1_000);
}

/** Runs in the page. */
const rename = `({ folder, host }) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
    node.nodeValue = node.nodeValue === host ? 'this-machine' : node.nodeValue.replaceAll(folder, '/home/you');
}`;

export const onPhone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** The screens with a key, and how an address of each begins. */
const screens = [
  ['n', '/'],
  ['b', '/board'],
  ['q', '/queue'],
  ['t', '/tasks'],
  ['c', '/costs'],
  ['s', '/system'],
] as const;

/**
 * Visits each screen by mouse and by keys, and on a phone, and these addresses too. Nothing is cut off on a phone, and
 * nothing is a barrier, on a desk and on a phone, light and dark.
 */
export async function visitEveryScreen(desk: Window, phone: Window, addresses: readonly string[]): Promise<void> {
  const found: string[] = [];
  const check = async ({ page }: Window): Promise<void> => {
    await settled(page);
    const width = page.viewportSize()?.width;
    expect(await page.evaluate('document.documentElement.scrollWidth'), page.url()).toBeLessThanOrEqual(width ?? 0);
    found.push(...(await barriersOf(page)));
  };
  await desk.go('/');
  for (const [key, path] of screens) {
    await goToScreen(desk.page, path);
    await phone.go(path);
    await Promise.all([check(desk), check(phone)]);
    await goToScreen(desk.page, '/system');
    await desk.page.keyboard.press('g');
    await desk.page.keyboard.press(key);
    await expect.poll(() => new URL(desk.page.url()).pathname, patient).toBe(path);
  }
  for (const address of addresses) {
    await Promise.all([desk.go(address), phone.go(address)]);
    await Promise.all([check(desk), check(phone)]);
  }
  expect(found).toEqual([]);
  desk.expectNothingWrong();
  phone.expectNothingWrong();
}

/** Serious accessibility problems, in light mode; in dark mode only those of colours. */
export async function barriersOf(page: Page): Promise<readonly string[]> {
  const found = [...(await barriers(page, 'light')), ...(await barriers(page, 'dark'))];
  await page.emulateMedia({ colorScheme: 'light' });
  return found.map((each) => `${new URL(page.url()).pathname}${new URL(page.url()).search} ${each}`);
}

async function barriers(page: Page, colorScheme: 'light' | 'dark'): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme });
  // The legacy mode opens no extra window; there is only one frame.
  const check = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] });
  const { violations } = await (colorScheme === 'dark' ? check.withRules('color-contrast') : check).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, any }) => `${colorScheme} ${id}: ${target} ${any[0]?.message ?? ''}`),
    );
}
