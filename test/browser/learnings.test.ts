// @module-tag full
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, BoardScene } from './scenes.ts';
import { barriersOf, onPhone } from './screens.ts';
import { band, goToScreen, openTab, openWindow, part, patient, reads, rowOf, settled, type Window } from './window.ts';

leaveNoPlaces();

/** Its runs fail until a test allows them; then it proposes four learnings, the second instead of L1. */
const learner = ({ folder }: BoardScene['place']): string =>
  [
    'learner:',
    '  enabled: true',
    '  runs_per_day: 3',
    '  min_lessons: 1000',
    '  prompt: |',
    '    Look at what happened.',
    '',
    '    ```rehearsal learner',
    `    run test -e ${folder}/allowed/learning`,
    '    learnings',
    '    | Run the tests in parallel < 1',
    '    | Ask before you add a dependency < 1 = L1',
    '    | <img src=x onerror=alert(1)> < 1',
    '    | Keep the lines short < 1',
    '    ```',
  ].join('\n');

describeInChromium('learnings on the dashboard', (browser) => {
  const scene = new BoardScene();
  scene.place.replace(
    'WORKFLOW.md',
    scene.place.read('WORKFLOW.md').replace('agent:\n', `${learner(scene.place)}\nagent:\n`),
  );
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

  const learnings = async (): Promise<[id: string, status: string, text: string][]> =>
    (await ask(scene, 'projects/live/learnings')).learnings
      .map(({ id, status, text }: Record<string, string>) => [id, status, text])
      .toSorted();
  const row = (id: string): Locator => page.locator(`[data-part=learning][data-learning="${id}"]`);
  const proposal = (number: number): Locator => page.locator(`[data-part=proposal][data-number="${number}"]`);
  const pressEnterOn = async (button: Locator): Promise<void> => {
    await button.focus();
    await page.keyboard.press('Enter');
  };

  it('says what learnings are, and takes one that a person writes', async () => {
    await window.go('/tasks');
    await openTab(page, 'learnings');
    await reads(page.locator('.empty'), /docs\/learnings\.md/);
    expect(await barriersOf(page)).toEqual([]);
    await part(page, 'learning_add').locator('textarea').fill('Never add a dependency');
    await page.keyboard.press('Control+Enter');
    await reads(row('L1').locator('[data-part=trial]'), /\b0 of 0\b.*\b0 of 0\b.*\b20\b/);
    expect(await part(page, 'learning_add').locator('textarea').inputValue()).toBe('');
    window.expectNothingWrong();
  });

  let issue: string;
  it('lets an agent look for learnings, with the price, and tries again after a failed run', async () => {
    issue = await scene.file('Fails', ['spend 10', 'fail on purpose']);
    const rows = async () => (await ask(scene, 'projects/live')).waiting;
    await expect.poll(rows, patient).toMatchObject([{ issue_identifier: issue, kind: 'retry' }]);
    await reads(part(page, 'learner_price'), /\b0 of 3\b/);
    await part(page, 'learn_begin').click();
    await reads(part(page, 'learner_price'), /\b1 of 3\b/);
    await part(page, 'learner_price').locator('a').click();
    const task = part(page, 'task');
    await reads(task.locator('.status').first(), /^failed$/);
    scene.allow('learning');
    await task.locator('[data-part=task_retry]').click();
    await reads(task.locator('.status').first(), /^proposed$/);
    window.expectNothingWrong();
  });

  it('shows the proposals among what needs you, with their origins and what they replace', async () => {
    await goToScreen(page, '/');
    await part(band(page, 'needs_you'), 'read_proposals').click();
    await reads(proposal(1).locator('[data-part=origins] a'), new RegExp(`^${issue}$`));
    await reads(proposal(2).locator('[data-part=replaced]'), /L1.*Never add a dependency/);
    // Words of strangers are text.
    await reads(proposal(3), /<img src=x/);
    expect(await barriersOf(page)).toEqual([]);
    window.expectNothingWrong();
  });

  // @conforms dashboard.69
  it('notes what a person accepts by mouse or by keys, edited or as it is, and nothing else', async () => {
    await pressEnterOn(part(proposal(3), 'refuse'));
    await expect.poll(() => part(proposal(3), 'refuse').count(), patient).toBe(0);
    // The focus stays with the decided proposal, and a key leads to the next one.
    await expect.poll(() => proposal(3).locator(':focus').count(), patient).toBe(1);
    await page.keyboard.press('j');
    expect(await proposal(4).locator(':focus').count()).toBe(1);

    await part(proposal(1), 'edit').click();
    await page.getByLabel('Text of proposal 1').fill('Run the tests one by one');
    await part(proposal(2), 'edit').click();
    await page.getByLabel('Text of proposal 2').fill('Ask a person before you add a dependency');
    await part(proposal(1), 'accept').click();
    await reads(proposal(1).locator('h4'), /one by one.*L2/);
    // What is typed elsewhere stays, and goes with the others.
    await part(page, 'accept_all').click();
    await reads(part(page, 'task').locator('.status').first(), /^accepted$/);
    expect(await learnings()).toEqual([
      ['L1', 'replaced', 'Never add a dependency'],
      ['L2', 'trial', 'Run the tests one by one'],
      ['L3', 'trial', 'Ask a person before you add a dependency'],
      ['L4', 'trial', 'Keep the lines short'],
    ]);
    await goToScreen(page, '/');
    await rowOf(page, 'waiting', issue).waitFor();
    await expect.poll(() => part(page, 'read_proposals').count(), patient).toBe(0);
    window.expectNothingWrong();
  });

  // @conforms dashboard.70
  it('folds those out of use, with their count, and edits, vetoes and restores', async () => {
    await goToScreen(page, '/tasks');
    await openTab(page, 'learnings');
    await reads(part(page, 'out_of_use').locator('summary'), /\b1\b/);
    expect(await row('L1').isVisible()).toBe(false);
    await reads(row('L2').locator('[data-part=origins] a'), new RegExp(`^${issue}$`));
    // What its status means. The row moves up when the answers to earlier commands go.
    await expect
      .poll(async () => {
        await row('L2').locator('h3').hover();
        return part(page, 'tooltip').innerText();
      }, patient)
      .toMatch(/\S{3}/);

    await pressEnterOn(part(row('L4'), 'edit'));
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Keep lines under 100 characters');
    await page.keyboard.press('Control+Enter');
    await reads(row('L4'), /under 100 characters/);
    await expect.poll(() => row('L4').locator(':focus').count(), patient).toBe(1);

    await part(row('L3'), 'learning_veto').click();
    await expect
      .poll(async () => {
        const veto = part(row('L3'), 'learning_veto');
        if ((await veto.count()) > 0) await veto.click();
        return (await learnings())[2]?.[1];
      }, patient)
      .toBe('vetoed');
    await reads(part(page, 'out_of_use').locator('summary'), /\b2\b/);
    await reads(page.locator('output.feedback.done'), /L3/);

    await pressEnterOn(part(page, 'out_of_use').locator('summary'));
    await pressEnterOn(part(row('L1'), 'learning_restore'));
    await reads(part(page, 'out_of_use').locator('summary'), /\b1\b/);
    expect((await learnings()).map(([id, status]) => `${id} ${status}`)).toEqual([
      'L1 trial',
      'L2 trial',
      'L3 vetoed',
      'L4 trial',
    ]);
    expect(await barriersOf(page)).toEqual([]);
    window.expectNothingWrong();
  });

  it('fits on a phone, light and dark', async () => {
    await using phone = await openWindow(browser(), scene.url, onPhone);
    for (const [path, shown] of [
      ['/tasks', 'proposal'],
      ['/tasks?tab=learnings', 'learning'],
    ] as const) {
      await phone.go(path);
      await settled(phone.page);
      if (shown === 'proposal') await part(phone.page, 'task').locator('h3 button').tap();
      await part(phone.page, shown).first().waitFor();
      expect(await phone.page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(390);
      expect(await barriersOf(phone.page)).toEqual([]);
    }
    await part(phone.page, 'out_of_use').locator('summary').tap();
    await phone.page.locator('[data-learning=L3] [data-part=learning_restore]').tap();
    await expect.poll(async () => (await learnings())[2]?.[1], patient).toBe('trial');
    phone.expectNothingWrong();
  });
});
