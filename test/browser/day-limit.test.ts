import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { BoardScene, waitFor } from './scenes.ts';
import { band, openWindow, patient, reads, rowOf, type Window } from './window.ts';

leaveNoPlaces();

describeInChromium('a day whose limit is reached', (browser) => {
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

  it('is the first thing that needs a person, who lets work go on by a second press', async () => {
    const id = await scene.file('Spend it all', [waitFor('spending'), 'spend 2000', waitFor('never')]);
    await window.go('/');
    await rowOf(page, 'Running', id).waitFor();
    expect(await band(page, 'Needs you').locator('li.row').count()).toBe(0);
    scene.allow('spending');
    const row = band(page, 'Needs you').locator('li.row');
    await reads(row, /The limit of the day is reached.*of 1,000 tokens.*Work goes on at 00:00 UTC/);
    // The next run waits before it spends anything.
    rmSync(path.join(scene.place.folder, 'allowed/spending'));
    await page.getByRole('button', { name: 'Resume live', exact: true }).click();
    // A double click is no answer to a question.
    const sure = page.getByRole('button', { name: 'Allow as much again? Resume live', exact: true });
    await expect
      .poll(async () => {
        if ((await sure.count()) > 0) await sure.click({ timeout: 1_000 }).catch(() => {});
        return row.count();
      }, patient)
      .toBe(0);
    await rowOf(page, 'Running', id).waitFor();
    window.expectNothingWrong();
  });
});
