// @module-tag full
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answer } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, BoardScene } from './scenes.ts';
import { barriersOf, onPhone } from './screens.ts';
import { goToScreen, openTab, openWindow, part, patient, reads, settled } from './window.ts';

leaveNoPlaces();

describeInChromium('tasks on the dashboard', (browser) => {
  const scene = new BoardScene();
  beforeAll(() => scene.start(), 60_000);
  afterAll(() => scene[Symbol.dispose]());

  const titles = async (): Promise<string[]> =>
    (await ask(scene, 'projects/live/issues?limit=100')).issues.map(({ title }: { title: string }) => title).toSorted();

  // @conforms intake.2
  it('takes a text, shows what the agent proposes next to a duplicate, and files what a person accepts', async () => {
    const known = await scene.fileText('A dark theme', '```rehearsal\nwait 60000\n```');
    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    await window.go('/');
    await goToScreen(page, '/tasks');
    const script = `\`\`\`rehearsal intake\nissues\n| Export as CSV # auto-merge backend\n| Dark mode = ${known}\n| <img src=x onerror=alert(1)>\n\`\`\``;
    await reads(part(page, 'price'), /limits\.usd_per_day/);
    await page.getByLabel('Text for an intake').fill(`Notes\n\n${script}\n`);
    await part(page, 'intake_begin').locator('button[type=submit]').click();
    const proposal = (number: number) => page.locator(`[data-part=proposal][data-number="${number}"]`);
    const task = part(page, 'task');
    await expect.poll(() => task.count(), patient).toBe(1);
    await expect.poll(() => task.locator('.status').first().textContent(), { timeout: 60_000 }).toBe('proposed');
    if ((await part(page, 'proposals').count()) === 0) await task.locator('h3 button').click();
    await reads(proposal(2).locator('[data-part=duplicate]'), new RegExp(known));
    await reads(proposal(1).locator('[data-part=filed_with]'), /auto-merge\s+backend/);
    // Words of strangers are text.
    await reads(proposal(3), /<img src=x/);

    await proposal(1).locator('[data-part=edit]').click();
    await page.getByLabel('Title of proposal 1').fill('Export as CSV and TSV');
    await page.getByLabel('Labels of proposal 1').fill('backend, export');
    await proposal(1).locator('[data-part=accept]').click();
    await expect.poll(titles, patient).toEqual(['A dark theme', 'Export as CSV and TSV']);
    await expect.poll(() => proposal(1).locator('[data-part=accept]').count(), patient).toBe(0);
    const { issues } = await ask(scene, 'projects/live/issues?limit=100');
    expect(issues.find(({ title }: { title: string }) => title.startsWith('Export')).labels).toEqual([
      'backend',
      'export',
    ]);
    await proposal(2).locator('[data-part=refuse]').click();
    await expect.poll(() => proposal(2).locator('[data-part=refuse]').count(), patient).toBe(0);
    await proposal(3).locator('[data-part=accept]').click();
    await expect.poll(() => task.locator('.status').first().textContent(), patient).toBe('accepted');
    await settled(page);
    window.expectNothingWrong();

    await using phone = await openWindow(browser(), scene.url, onPhone);
    await phone.go('/tasks');
    await settled(phone.page);
    expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await barriersOf(phone.page)).toEqual([]);
    // Without a learner there is nothing to press, and the setting is named.
    await openTab(phone.page, 'learnings');
    await reads(part(phone.page, 'learner_off').locator('code'), /^learner\.enabled$/);
    expect(await part(phone.page, 'learn_begin').count()).toBe(0);
    expect(await barriersOf(phone.page)).toEqual([]);
    phone.expectNothingWrong();
  });

  // @conforms intake.3
  it('takes the text from a file, and says what keeps it from its agent', async () => {
    await answer(scene.place, 'pause');
    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    await window.go('/tasks');
    const file = { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('Notes of Ada\n') };
    await page.getByLabel('File with the text').setInputFiles(file);
    const text = page.getByLabel('Text for an intake');
    await expect.poll(() => text.inputValue(), patient).toBe('Notes of Ada\n');
    await part(page, 'intake_begin').locator('button[type=submit]').click();
    await reads(part(page, 'waits_for').locator('code'), /^paused$/);
    await reads(part(page, 'task').first(), /Notes of Ada/);
    expect(await barriersOf(page)).toEqual([]);
    window.expectNothingWrong();
  });
});
