import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { BoardScene, waitFor } from './scenes.ts';
import { openTab, openWindow, patient, reads, rowOf, type Window } from './window.ts';

leaveNoPlaces();

describeInChromium('a day of work at the dashboard', (browser) => {
  const scene = new BoardScene();
  let window: Window;
  let page: Page;
  let other: Window;
  beforeAll(async () => {
    await scene.start();
    window = await openWindow(browser(), scene.url);
    other = await openWindow(browser(), scene.url);
    page = window.page;
  }, 60_000);
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
    scene[Symbol.dispose]();
  });
  const watched = (): Promise<string | null> =>
    page.getByRole('link', { name: 'Watch the run of BAT-1' }).getAttribute('href');
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  it('a run is steered, its transcript grows while it is read, and its changes are shown', async () => {
    const id = await scene.file('Steer me', [
      'say I am at work',
      'append README.md',
      '| a line more',
      waitFor('steered'),
      'say The needle is here',
      waitFor('never'),
    ]);
    await window.go('/');
    await rowOf(page, 'Running', id).getByText('appended to README.md').waitFor();
    await button(`Steer: ${id}`).click();
    await page.getByRole('textbox', { name: 'Tell the agent' }).fill('look to the left');
    await page.keyboard.press('Enter');
    await rowOf(page, 'Running', id).getByText('told: look to the left').waitFor();

    await rowOf(page, 'Running', id)
      .getByRole('link', { name: `${id}: Steer me` })
      .click();
    await openTab(page, 'Transcript');
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await reads(transcript, /told: look to the left/);
    expect(await transcript.innerText()).not.toContain('needle');
    scene.allow('steered');
    await reads(transcript, /The needle is here/);
    await page.getByRole('searchbox', { name: 'Search the transcript' }).fill('NEEDLE');
    await reads(transcript, /1 place/);
    await page.keyboard.press('Enter');
    await reads(transcript.locator('.is-current'), /The needle is here/);
    await openTab(page, 'Diff');
    await reads(page.locator('.diff-view'), /1 file, \+1 −0/);
    await reads(page.locator('.diff-view'), /a line more/);
    window.expectNothingWrong();
  });

  it('a run is stopped after a second press, and tried again with a note that reaches its agent', async () => {
    await button('Stop: BAT-1').click();
    await button('End its run? Stop: BAT-1').waitFor();
    // A double click is no answer to a question.
    await expect.poll(() => pressAgain(page, 'End its run? Stop: BAT-1'), patient).toBe(true);
    await reads(page.locator('.why-here'), /Held/);
    await button('Retry with a note: BAT-1').click();
    await page.getByRole('textbox', { name: 'Note to the agent' }).fill('mind the\ngap');
    await button('Retry').click();
    await page.getByRole('heading', { name: 'The run in progress' }).waitFor();
    await page.locator('.live').getByRole('link', { name: 'Run', exact: true }).click();
    await openTab(page, 'Prompt');
    await reads(page.locator('.prompts'), /mind the\s+gap/);
    await openTab(page, 'Events');
    await page.getByRole('region', { name: 'Events' }).getByText('turn started').first().waitFor();
    window.expectNothingWrong();
  });

  it('a run is taken over with its place told, and handed back', async () => {
    await page.getByRole('link', { name: 'BAT-1', exact: true }).click();
    await button('Take over: BAT-1').click();
    await expect.poll(() => pressAgain(page, 'End the agent? Take over: BAT-1'), patient).toBe(true);
    await reads(page.locator('.taken-over'), `${scene.place.folder}/workspaces/BAT-1`);
    await page.getByRole('link', { name: /^Now/ }).click();
    await rowOf(page, 'Needs you', 'BAT-1').getByRole('button', { name: 'Hand back: BAT-1' }).click();
    await page.getByRole('textbox', { name: 'What the agent should know' }).fill('I did the rest');
    await page.keyboard.press('Enter');
    await rowOf(page, 'Running', 'BAT-1').waitFor();
    window.expectNothingWrong();
  });

  it('nothing starts while it is paused, and both windows say so; it goes on when it is resumed', async () => {
    await window.go('/');
    await other.go('/');
    await button('Pause live').click();
    await reads(page.locator('.vitals'), /Paused since/);
    await reads(other.page.locator('.vitals'), /Paused since/);
    const id = await scene.file('Wait for me', [waitFor('never')]);
    await rowOf(other.page, 'Waiting', id).waitFor();
    await reads(rowOf(page, 'Waiting', id), /paused/i);
    await other.page.getByRole('button', { name: 'Resume live' }).click();
    await rowOf(page, 'Running', id).waitFor();
    await rowOf(other.page, 'Running', id).waitFor();
    expect(await page.locator('.vitals').innerText()).not.toContain('Paused');
    window.expectNothingWrong();
    other.expectNothingWrong();
  });

  it('a daemon that is killed is missed at once; what was typed stays, and it comes back by itself', async () => {
    await window.go('/');
    await button('Steer: BAT-1').click();
    const field = page.getByRole('textbox', { name: 'Tell the agent' });
    await field.fill('half a sentence');
    await scene.kill();
    await page.getByText(/The daemon is away since/).waitFor();
    await reads(rowOf(page, 'Running', 'BAT-1'), /BAT-1/);
    const [url, run] = [scene.url, await watched()];
    await scene.start();
    expect(scene.url).toBe(url);
    await page.getByText(/The daemon is away since/).waitFor({ state: 'detached' });
    // Its run died with the daemon and is begun again: another row, the same words.
    await expect.poll(watched, patient).not.toBe(run);
    await rowOf(page, 'Running', 'BAT-1').getByText('The needle is here').waitFor();
    if (!(await field.isVisible())) await button('Steer: BAT-1').click();
    expect(await field.inputValue()).toBe('half a sentence');
    await field.fill('a whole sentence');
    await button('Tell').click();
    await rowOf(page, 'Running', 'BAT-1').getByText('told: a whole sentence').waitFor();
    // The other window was open all the time.
    await rowOf(other.page, 'Running', 'BAT-1').getByText('told: a whole sentence').waitFor();
    const refused =
      /^console: Failed to load resource: net::ERR_(CONNECTION_REFUSED|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_RESET|EMPTY_RESPONSE)/;
    for (const each of [window, other]) expect(each.wrong.splice(0).filter((text) => !refused.test(text))).toEqual([]);
  });

  it('a daemon that hangs is missed within a few signs of life, since when it is, and what was asked is not lost', async () => {
    await window.go('/');
    await button('Pause live').waitFor();
    const stoppedAt = Date.now();
    scene.daemon.child.kill('SIGSTOP');
    await button('Pause live').click();
    await reads(page.locator('.feedback'), /Sending/);
    await page.getByText(/The daemon is away since/).waitFor({ timeout: 30_000 });
    const since = await page.locator('.away time').first().getAttribute('datetime');
    // The last that was heard of it, not the time at which it was missed. Clocks of pages tick by seconds.
    expect(Math.abs(Date.parse(since ?? '') - stoppedAt)).toBeLessThan(7_500);
    await reads(page.locator('.feedback'), /No answer/);
    scene.daemon.child.kill('SIGCONT');
    await page.getByText(/The daemon is away since/).waitFor({ state: 'detached' });
    // Whether it had heard of it or not: asked again, it is carried out once.
    const again = button('Pause live');
    if ((await again.count()) > 0) await again.click({ timeout: 2_000 }).catch(() => {});
    await reads(page.locator('.vitals'), /Paused since/);
    await button('Resume live').click();
    await expect.poll(() => page.locator('.vitals').innerText(), patient).not.toContain('Paused since');
    window.expectNothingWrong();
  });
});

/** Presses a button that asks; true once what it asked was answered. */
async function pressAgain(page: Page, name: string): Promise<boolean> {
  const armed = page.getByRole('button', { name, exact: true });
  if ((await armed.count()) === 0) return true;
  await armed.click();
  return (await armed.count()) === 0;
}
