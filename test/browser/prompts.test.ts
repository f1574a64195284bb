// @module-tag full
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, BoardScene } from './scenes.ts';
import { barriersOf, onPhone } from './screens.ts';
import { openWindow, patient, reads } from './window.ts';

leaveNoPlaces();

describeInChromium('a workflow file with two prompts', (browser) => {
  const scene = new BoardScene();
  const file = scene.place.read('WORKFLOW.md').replace('agent:\n', 'second_prompt: {file: b.md}\nagent:\n');
  scene.place.replace('WORKFLOW.md', file);
  scene.place.write('b.md', 'Another: {{ issue.description }}');
  beforeAll(() => scene.start(), 60_000);
  afterAll(() => scene[Symbol.dispose]());

  // @conforms 4.131
  it('shows on the System screen what became of the runs of each, and compares them', async () => {
    for (let number = 1; number <= 16; number += 1) await scene.file(`Issue ${number}`, ['spend 100', 'move review']);
    const measured = async () => (await ask(scene, 'projects/live/prompts')).prompts.length;
    await expect.poll(measured, patient).toBe(2);
    const ended = async () =>
      (await ask(scene, 'projects/live/prompts')).prompts.reduce(
        (sum: number, { success }: { success: { of: number } }) => sum + success.of,
        0,
      );
    await expect.poll(ended, patient).toBe(16);
    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    await window.go('/system?tab=prompts');
    await expect.poll(() => page.locator('table.table').count(), patient).toBe(2);
    await reads(page.locator('main'), /b\.md[\s\S]*\d+ of \d+ \(\d+–\d+ %\)/);
    // The five measures, each of both prompts.
    const compared = page.locator('table.table').first().locator('tbody tr');
    expect(await compared.count()).toBe(5);
    await reads(compared.first(), /\d+ of \d+ \(\d+–\d+ %\)\s+\d+ of \d+ \(\d+–\d+ %\)\s+\S/);
    expect(await barriersOf(page)).toEqual([]);
    window.expectNothingWrong();
    await using phone = await openWindow(browser(), scene.url, onPhone);
    await phone.go('/system?tab=prompts');
    await expect.poll(() => phone.page.locator('table.table').count(), patient).toBe(2);
    expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    phone.expectNothingWrong();
  });
});
