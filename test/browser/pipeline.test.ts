// @module-tag full
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, BoardScene } from './scenes.ts';
import { barriersOf, onPhone } from './screens.ts';
import { action, goToScreen, openWindow, part, patient, reads, rowOf, settled } from './window.ts';

leaveNoPlaces();

/** Its first phase never keeps the contract, and each version is another one: a person decides about it. */
const description = [
  'What is to be done, in **Markdown**.',
  '',
  '```rehearsal research',
  'write .baton/note.sh',
  '| printf "# Notes\\n\\nround %s\\n" "$(date +%s%N)" > .baton/research.md',
  'run sh .baton/note.sh',
  'complete I tried',
  '```',
  '```rehearsal grooming',
  'wait 60000',
  '```',
  '```rehearsal',
  'wait 60000',
  '```',
].join('\n');

describeInChromium('the pipeline on the dashboard', (browser) => {
  const scene = new BoardScene({
    agent: [
      'pipeline:',
      '  max_revisions: 0',
      '  phases:',
      '    - {name: research, required_sections: [Findings], max_turns: 1}',
      '    - {name: grooming}',
    ],
  });
  beforeAll(() => scene.start(), 60_000);
  afterAll(() => scene[Symbol.dispose]());

  const standing = async (issue: string) => (await ask(scene, `projects/live/issues/${issue}/pipeline`)).pipeline;
  const waitsForPerson = (issue: string, version: number): Promise<void> =>
    expect
      .poll(() => standing(issue), { timeout: 60_000, interval: 200 })
      .toMatchObject({ phase: 'research', waits_for: 'person', artifacts: Array(version).fill({ phase: 'research' }) });
  const statuses = (page: Page) =>
    page.locator('.phase-steps li').evaluateAll((all) => all.map((each) => (each as HTMLElement).dataset.status));

  /** What is asked comes first, unless a person has to decide. */
  const isAfterDescription = (page: Page): Promise<boolean> =>
    page.evaluate(() => {
      const [description, pipeline] = ['.issue-main > .description', '.issue-main > .pipeline'].map((each) =>
        document.querySelector(each),
      );
      if (!description || !pipeline) throw new Error('a part is missing');
      return Boolean(description.compareDocumentPosition(pipeline) & Node.DOCUMENT_POSITION_FOLLOWING);
    });

  it('shows each phase with its number of issues, also without any, on a phone too', async () => {
    for (const more of [{}, onPhone]) {
      await using window = await openWindow(browser(), scene.url, more);
      await window.go('/');
      await goToScreen(window.page, '/pipeline');
      await settled(window.page);
      for (const phase of ['research', 'grooming', 'ready'])
        await reads(part(window.page, `phase_${phase}`).locator('.count'), /^0$/);
      expect(await barriersOf(window.page)).toEqual([]);
      window.expectNothingWrong();
    }
  });

  it('shows the phases, the artifact and its versions, and takes the decisions of a person', async () => {
    const issue = await scene.fileText('Prepare it', description);
    await waitsForPerson(issue, 1);
    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    await window.go('/');
    const row = rowOf(page, 'needs_you', issue);
    await reads(part(row, 'phase'), /research/);
    expect(await part(row, 'read_artifact').getAttribute('href')).toContain(`/issue/live/${issue}`);

    // The screen of all issues, by the navigation.
    await goToScreen(page, '/pipeline');
    await settled(page);
    await reads(part(page, 'phase_research'), new RegExp(`${issue}[\\s\\S]*Prepare it[\\s\\S]*\\b0\\b`));
    expect(await barriersOf(page)).toEqual([]);
    // One line, also in the last column.
    const last = await part(page, 'phase_research').locator('td').last().boundingBox();
    expect(last?.height).toBeLessThan(40);
    await part(page, 'phase_research').locator('a', { hasText: issue }).click();
    await settled(page);

    expect(await statuses(page)).toEqual(['current', 'coming', 'coming']);
    expect(await isAfterDescription(page)).toBe(false);
    const section = part(page, 'pipeline');
    await reads(section, /Findings/);
    // The artifact is Markdown.
    await section.locator('.prose :is(h2, h3, h4, h5, h6)', { hasText: /^Notes$/ }).waitFor();
    expect(await barriersOf(page)).toEqual([]);

    // Back to its agent, by keys alone.
    await part(page, 'phase_reject').locator('textarea').focus();
    await page.keyboard.type('Write what you found.');
    await page.keyboard.press('Control+Enter');
    await waitsForPerson(issue, 2);
    await reads(section, /Write what you found\.|Findings/);
    await part(page, 'artifact_diff').click();
    await reads(section.locator('.diff-view tr.removed'), /round/);
    await reads(section.locator('.diff-view tr.added'), /round/);
    expect(await barriersOf(page)).toEqual([]);
    await part(page, 'artifact_version').selectOption('1');
    await part(page, 'artifact_diff').waitFor({ state: 'detached' });

    // A version of one's own, which is then approved.
    await part(page, 'artifact_replace').click();
    const form = part(page, 'artifact_put');
    await form.locator('textarea').fill('# Findings\n\nIt is **done** by hand.\n');
    expect(await barriersOf(page)).toEqual([]);
    await form.locator('button[type=submit]').click();
    await section.locator('.prose strong', { hasText: 'done' }).waitFor();
    expect((await standing(issue)).artifacts[0]).toMatchObject({ version: 3, author: { kind: 'person' } });
    await action(section, 'phase_approve', issue).click();
    await expect.poll(() => standing(issue), patient).toMatchObject({ phase: 'grooming' });
    await expect.poll(() => statuses(page), patient).toEqual(['done', 'current', 'coming']);
    await expect.poll(() => isAfterDescription(page), patient).toBe(true);

    // To the last phase: pressed twice.
    const move = action(section, 'phase_move', issue);
    await part(page, 'phase_choice').selectOption('ready');
    const pressed = async (): Promise<string> => {
      await move.click();
      return (await standing(issue)).phase;
    };
    await expect.poll(pressed, { ...patient, interval: 400 }).toBe('ready');
    await expect.poll(() => statuses(page), patient).toEqual(['done', 'done', 'current']);
    // Its worker has it: the phases are folded.
    await section.locator('summary').first().waitFor();
    expect(await part(page, 'phase_choice').isVisible()).toBe(false);
    await section.locator('summary').first().click();
    await part(page, 'phase_choice').waitFor();
    // A row of an issue that its worker does says nothing about phases.
    await goToScreen(page, '/');
    await rowOf(page, 'running', issue).waitFor();
    await part(rowOf(page, 'running', issue), 'phase').waitFor({ state: 'detached' });
    window.expectNothingWrong();
  });

  it('fits a phone, with the same parts', async () => {
    const issue = await scene.fileText('Prepare it on a phone', description);
    await waitsForPerson(issue, 1);
    await using phone = await openWindow(browser(), scene.url, onPhone);
    const { page } = phone;
    for (const path of ['/pipeline', `/issue/live/${issue}`]) {
      await phone.go(path);
      await settled(page);
      await page.locator('main', { hasText: 'Prepare it on a phone' }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(390);
      expect(await barriersOf(page)).toEqual([]);
    }
    await action(part(page, 'pipeline'), 'phase_approve', issue).tap();
    await expect.poll(() => standing(issue), patient).toMatchObject({ phase: 'grooming' });
    phone.expectNothingWrong();
  });
});
