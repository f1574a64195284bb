// @module-tag full
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { BoardScene, waitFor } from './scenes.ts';
import { action, band, openWindow, patient, reads, rowOf, type Window } from './window.ts';

leaveNoPlaces();

describeInChromium('a reached limit of the day', (browser) => {
  const scene = new BoardScene({ agent: ['limits: {tokens_per_day: 1000}'] });
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

  // @conforms notify.14
  it('is the first row that needs a person, and a second press lets work continue', async () => {
    const id = await scene.file('Spend it all', [waitFor('spending'), 'spend 2000', waitFor('never')]);
    await window.go('/');
    await rowOf(page, 'running', id).waitFor();
    expect(await band(page, 'needs_you').locator('li.row').count()).toBe(0);
    scene.allow('spending');
    const row = band(page, 'needs_you').locator('li.row');
    await reads(row, /\b1,000\b.*00:00 UTC/);
    // The next run waits before it spends anything.
    rmSync(path.join(scene.place.folder, 'allowed/spending'));
    await action(row, 'resume', 'live').click();
    // A double click is not a confirmation.
    const sure = row.locator('button.armed[data-part="resume"]');
    await expect
      .poll(async () => {
        if ((await sure.count()) > 0) await sure.click({ timeout: 1_000 }).catch(() => {});
        return row.count();
      }, patient)
      .toBe(0);
    await rowOf(page, 'running', id).waitFor();
    window.expectNothingWrong();
  });
});
