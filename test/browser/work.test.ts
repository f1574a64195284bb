// @module-tag full
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { BoardScene, waitFor } from './scenes.ts';
import { action, goToScreen, openTab, openWindow, part, patient, reads, rowOf, type Window } from './window.ts';

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
  const watched = (): Promise<string | null> => part(rowOf(page, 'running', 'BAT-1'), 'watch').getAttribute('href');
  /** The open field for a message to an agent. */
  const field = (name: string) => page.locator(`form.note[data-part="${name}"] textarea`);
  const paused = (of: Page) => of.locator('.vitals .paused[data-part="pause"]');

  it('steers a run, shows its transcript live, and shows its diff', {
    tags: ['smoke', 'first'],
  }, async () => {
    const id = await scene.file('Steer me', [
      'say I am at work',
      'append README.md',
      '| a line more',
      waitFor('steered'),
      'say The needle is here',
      waitFor('never'),
    ]);
    await window.go('/');
    await rowOf(page, 'running', id).getByText('README.md').waitFor();
    await action(page, 'issue_steer', id).click();
    await field('issue_steer').fill('look to the left');
    await page.keyboard.press('Control+Enter');
    await rowOf(page, 'running', id).getByText('received: look to the left').waitFor();

    await rowOf(page, 'running', id)
      .getByRole('link', { name: `${id}: Steer me` })
      .click();
    await openTab(page, 'transcript');
    const transcript = page.locator('section.transcript');
    await reads(transcript, /received: look to the left/);
    expect(await transcript.innerText()).not.toContain('needle');
    scene.allow('steered');
    await reads(transcript, /The needle is here/);
    await page.getByRole('searchbox').fill('NEEDLE');
    await reads(transcript.locator('.transcript-search output'), /\b1\b/);
    await page.keyboard.press('Enter');
    await reads(transcript.locator('.is-current'), /The needle is here/);
    await openTab(page, 'diff');
    await reads(page.locator('.diff-view'), /\b1 .*\+1 −0/);
    await reads(page.locator('.diff-view'), /a line more/);
    window.expectNothingWrong();
  });

  // @conforms dashboard.22
  it('stops a run after a second press, and retries with a note that reaches the agent', async () => {
    await action(page, 'issue_stop', 'BAT-1').click();
    await armed(page, 'issue_stop').waitFor();
    // A double click is not a confirmation.
    await expect.poll(() => pressAgain(armed(page, 'issue_stop')), patient).toBe(true);
    await part(page.locator('.why-here'), 'held').waitFor();
    await page.locator('.live').waitFor({ state: 'detached' });
    await action(page, 'retry_with_note', 'BAT-1').click();
    await field('retry_with_note').fill('mind the\ngap');
    await page.locator('form.note[data-part=retry_with_note] button[type=submit]').click();
    await page.locator('.live a[href^="/run/"]').click();
    await openTab(page, 'prompt');
    await reads(page.locator('.prompts'), /mind the\s+gap/);
    await openTab(page, 'events');
    await page.locator('.run-events').getByText('turn started').first().waitFor();
    window.expectNothingWrong();
  });

  it('takes a run over, shows its workspace, and hands it back', async () => {
    await page.getByRole('link', { name: 'BAT-1', exact: true }).click();
    await page.locator('.issue-page').waitFor();
    await action(page, 'issue_takeover', 'BAT-1').click();
    await expect.poll(() => pressAgain(armed(page, 'issue_takeover')), patient).toBe(true);
    await reads(page.locator('.taken-over'), `${scene.place.folder}/workspaces/BAT-1`);
    await goToScreen(page, '/');
    // The row has the button, so it names no command to type.
    await reads(rowOf(page, 'needs_you', 'BAT-1'), /\bby hand\b/);
    expect(await rowOf(page, 'needs_you', 'BAT-1').innerText()).not.toMatch(/\bbaton /);
    await action(rowOf(page, 'needs_you', 'BAT-1'), 'issue_handback', 'BAT-1').click();
    await field('issue_handback').fill('I did the rest');
    await page.keyboard.press('Control+Enter');
    await rowOf(page, 'running', 'BAT-1').waitFor();
    window.expectNothingWrong();
  });

  it('starts nothing while paused, says so in both windows, and continues when resumed', async () => {
    await window.go('/');
    await other.go('/');
    await action(page, 'pause', 'live').click();
    await paused(page).waitFor();
    await paused(other.page).waitFor();
    const id = await scene.file('Wait for me', [waitFor('never')]);
    await rowOf(other.page, 'waiting', id).waitFor();
    await action(other.page, 'resume', 'live').click();
    await rowOf(page, 'running', id).waitFor();
    await rowOf(other.page, 'running', id).waitFor();
    expect(await paused(page).count()).toBe(0);
    window.expectNothingWrong();
    other.expectNothingWrong();
  });

  // @conforms dashboard.23
  it('notices a killed daemon at once, keeps typed text, and reconnects by itself', async () => {
    await window.go('/');
    await action(page, 'issue_steer', 'BAT-1').click();
    const word = field('issue_steer');
    await word.fill('half a sentence');
    await scene.kill();
    await page.locator('.away').waitFor();
    await reads(rowOf(page, 'running', 'BAT-1'), /BAT-1/);
    const [url, run] = [scene.url, await watched()];
    await scene.start();
    expect(scene.url).toBe(url);
    await page.locator('.away').waitFor({ state: 'detached' });
    // Its run died with the daemon and started again: another row, the same text.
    await expect.poll(watched, patient).not.toBe(run);
    await rowOf(page, 'running', 'BAT-1').getByText('The needle is here').waitFor();
    if (!(await word.isVisible())) await action(page, 'issue_steer', 'BAT-1').click();
    expect(await word.inputValue()).toBe('half a sentence');
    await word.fill('a whole sentence');
    await page.locator('form.note button[type=submit]').click();
    await rowOf(page, 'running', 'BAT-1').getByText('received: a whole sentence').waitFor();
    // The other window stayed open.
    await rowOf(other.page, 'running', 'BAT-1').getByText('received: a whole sentence').waitFor();
    // Messages of the browser: the daemon was gone, or had just started without its projects.
    const refused = /^console: Failed to load resource: (?:net::ERR_|.*\b503\b)/;
    for (const each of [window, other]) expect(each.wrong.splice(0).filter((text) => !refused.test(text))).toEqual([]);
  });

  // @conforms dashboard.36
  it('notices a hanging daemon after a few missed heartbeats, shows since when, and loses no command', async () => {
    await window.go('/');
    const pause = action(page, 'pause', 'live');
    await pause.waitFor();
    const stoppedAt = Date.now();
    scene.daemon.child.kill('SIGSTOP');
    await pause.click();
    await page.locator('.feedback.sending').waitFor();
    await page.locator('.away').waitFor({ timeout: 30_000 });
    const since = await page.locator('.away time').first().getAttribute('datetime');
    // The time of its last message, not the time when the page noticed. The clock of a page ticks in seconds.
    expect(Math.abs(Date.parse(since ?? '') - stoppedAt)).toBeLessThan(7_500);
    await page.locator('.feedback.lost').waitFor();
    scene.daemon.child.kill('SIGCONT');
    await page.locator('.away').waitFor({ state: 'detached' });
    // Whether or not it received the command: sent again, it is carried out once.
    if ((await pause.count()) > 0) await pause.click({ timeout: 2_000 }).catch(() => {});
    await paused(page).waitFor();
    await action(page, 'resume', 'live').click();
    await paused(page).waitFor({ state: 'detached' });
    window.expectNothingWrong();
  });
});

/** A button that was pressed once and asks for confirmation. */
function armed(page: Page, name: string): Locator {
  return page.locator(`button.armed[data-part="${name}"]`);
}

/** Presses a button that asks for confirmation; true when it was confirmed. */
async function pressAgain(button: Locator): Promise<boolean> {
  if ((await button.count()) === 0) return true;
  await button.click();
  return (await button.count()) === 0;
}
