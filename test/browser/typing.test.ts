import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, BoardScene, waitFor } from './scenes.ts';
import { openWindow, patient, reads, rowOf, type Window } from './window.ts';

leaveNoPlaces();

describeInChromium('whoever types, reads or goes by the keyboard is not interrupted', (browser) => {
  const scene = new BoardScene();
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
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  const field = (name: string): Locator => page.getByRole('textbox', { name });
  /** What somebody else asks for, at another window. */
  const command = async (asked: object): Promise<void> => {
    const answer = await fetch(`${scene.url}/api/v1/projects/live/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    expect(await answer.json()).toMatchObject({ command: { status: 'done' } });
  };
  /** The name of what has the focus. */
  const focus = (): Promise<string> =>
    page
      .locator(':focus')
      .evaluateAll(([it]) => (it === undefined ? 'nowhere' : (it.getAttribute('aria-label') ?? it.tagName)));
  /** Goes on typing letters that are also keys of the page; they reach the field, and no other one. */
  const goOnTyping = async (where: Locator, before: string): Promise<void> => {
    await page.keyboard.type(' n g b j x ?');
    expect(await where.inputValue()).toBe(`${before} n g b j x ?`);
    expect(await where.evaluate((it) => [it.dataset.mark, it.matches(':focus')])).toEqual(['same', true]);
    expect(await page.locator('dialog[open]').count()).toBe(0);
  };
  const begin = async (opener: string, name: string, text: string): Promise<Locator> => {
    await button(opener).click();
    await page.keyboard.type(text);
    await field(name).evaluate((it) => {
      it.dataset.mark = 'same';
    });
    return field(name);
  };

  it('a word to an agent that ends meanwhile stays under the hands, and can be sent as a note', async () => {
    const id = await scene.file('Ends first', [
      'say hello',
      waitFor('end'),
      'first fail it breaks on purpose',
      waitFor('never'),
    ]);
    await window.go('/');
    const steer = await begin(`Steer: ${id}`, 'Tell the agent', 'look left');
    scene.allow('end');
    await rowOf(page, 'Waiting', id).waitFor();
    await goOnTyping(steer, 'look left');
    await reads(page.locator('.note-state'), /“Steer” is not possible any more. Your words are kept/);
    // Nothing is sent that the person did not mean.
    await page.keyboard.press('Enter');
    expect(await steer.inputValue()).toBe('look left n g b j x ?');
    await page.locator('.note-state').getByRole('button', { name: 'Retry with a note…' }).click();
    expect(await focus()).toBe('Note to the agent');
    await page.keyboard.press('Enter');
    await rowOf(page, 'Running', id).waitFor();
    await expect.poll(() => page.locator('.note').count(), patient).toBe(0);
    const { runs } = await ask(scene, `projects/live/issues/${id}`);
    const told = async (): Promise<string> =>
      JSON.stringify(await ask(scene, `projects/live/runs/${runs[0].run_id}/prompt`));
    await expect.poll(told, patient).toContain('look left n g b j x ?');
    window.expectNothingWrong();
  });

  it('a note to a row whose retry begins meanwhile stays too, and can be told to the agent at work', async () => {
    const id = await scene.file('Waits first', ['say hello', 'first fail it breaks on purpose', waitFor('never')]);
    await rowOf(page, 'Waiting', id).waitFor();
    const note = await begin(`Retry with a note: ${id}`, 'Note to the agent', 'mind it');
    await command({ kind: 'issue_retry', issue: id });
    // An agent that is not at work yet cannot be told anything.
    await rowOf(page, 'Running', id)
      .getByText(/hello|until/)
      .waitFor();
    await goOnTyping(note, 'mind it');
    await reads(page.locator('.note-state'), /“Retry with a note” is not possible any more/);
    await page.locator('.note-state').getByRole('button', { name: 'Steer…' }).click();
    await page.keyboard.press('Enter');
    await rowOf(page, 'Running', id).getByText('told: mind it n g b j x ?').waitFor();
    // The row that was kept for the note goes with it; the focus goes to one that is left.
    await rowOf(page, 'Waiting', id).waitFor({ state: 'detached' });
    await expect.poll(focus, patient).toMatch(/^BAT-\d: /);
    window.expectNothingWrong();
  });

  it('a word typed at the Issue stays when its run is stopped by somebody else', async () => {
    await page.getByRole('link', { name: 'BAT-2: Waits first' }).first().click();
    const steer = await begin('Steer: BAT-2', 'Tell the agent', 'still there');
    await command({ kind: 'issue_stop', issue: 'BAT-2' });
    await reads(page.locator('.why-here'), /Held/);
    await goOnTyping(steer, 'still there');
    await reads(page.locator('.note-state'), /“Steer” is not possible any more/);
    await page.keyboard.press('Escape');
    expect(await page.locator('.note').count()).toBe(0);
    await expect.poll(focus, patient).toMatch(/: BAT-2$/);
    window.expectNothingWrong();
  });

  it('the focus goes back to what it came from, and from a row that goes to the next one', async () => {
    await window.go('/');
    await button('Steer: BAT-1').click();
    await page.keyboard.press('Escape');
    expect(await focus()).toBe('Steer: BAT-1');
    // A key that is held down opens, and sends nothing.
    await page.keyboard.down('Enter');
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    expect(await focus()).toBe('Tell the agent');
    await page.keyboard.type('a word');
    await page.keyboard.press('Enter');
    await page.locator('.feedback.done').waitFor();
    expect(await focus()).toBe('Steer: BAT-1');
    await button('Dismiss').focus();
    await page.keyboard.press('Enter');
    expect(await focus()).toBe('BAT-1: Ends first');

    const stop = button('Stop: BAT-1');
    await stop.focus();
    await page.keyboard.down('Enter');
    // The time after which a second press is an answer.
    await page.waitForTimeout(450);
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    expect(await focus()).toBe('End its run? Stop: BAT-1');
    await page.keyboard.press('Escape');

    // Whoever types into a field that is taken away has not noticed yet: no key of the page is meant.
    await window.go('/board');
    await page.getByRole('searchbox').pressSequentially('nee');
    await page.locator(':focus').evaluate((it) => it.remove());
    await page.keyboard.type('gn');
    expect(await focus()).not.toBe('nowhere');
    expect(new URL(page.url()).pathname).toBe('/board');
    await page.waitForTimeout(1_100);
    await page.keyboard.type('gn');
    await rowOf(page, 'Running', 'BAT-1').waitFor();

    const id = await scene.file('Held after it', [waitFor('never')]);
    await rowOf(page, 'Running', id).waitFor();
    await command({ kind: 'issue_stop', issue: id });
    await rowOf(page, 'Needs you', id).waitFor();
    await button('Release: BAT-2').focus();
    await page.keyboard.press('Enter');
    await rowOf(page, 'Needs you', 'BAT-2').waitFor({ state: 'detached' });
    await expect.poll(focus, patient).toBe(`${id}: Held after it`);
    window.expectNothingWrong();
  });

  it('the transcript that is read stays when a newer run begins, which is offered, and older ones are readable', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `say line ${index} of the first run`);
    const id = await scene.file('Read me', [
      ...lines,
      waitFor('read'),
      'first fail it breaks on purpose',
      'say the second run speaks',
      waitFor('never'),
    ]);
    await window.go(`/issue/live/${id}?tab=transcript`);
    const log = page.locator('section.log');
    await reads(log, /line 59 of the first run/);
    await log.hover();
    await page.mouse.wheel(0, -500);
    const seen = (): Promise<unknown> =>
      log.evaluate((box) => {
        const top = box.getBoundingClientRect().top;
        const first = [...box.querySelectorAll('[data-seq]')].find((it) => it.getBoundingClientRect().bottom > top);
        return [first?.textContent, Math.round((first?.getBoundingClientRect().top ?? 0) - top)];
      });
    await expect.poll(() => button('Follow').count(), patient).toBe(1);
    const before = await seen();
    const address = page.url();
    expect(address).toContain('run=');
    scene.allow('read');
    await reads(page.locator('.why-here'), /Looked at again/);
    await command({ kind: 'issue_retry', issue: id });
    await reads(page.locator('.run-choice'), /A newer run has begun/);
    expect(await seen()).toEqual(before);
    expect(page.url()).toBe(address);
    await button('Show it').click();
    await reads(log, /the second run speaks/);
    await page.getByLabel('Run that is read').selectOption({ index: 1 });
    await reads(log, /line 59 of the first run/);
    expect(page.url()).toBe(address);
    window.expectNothingWrong();
  });

  it('what is chosen and typed for an answer stays, also when somebody else has answered', async () => {
    const id = await scene.file('Asks', ['ask Which colour?', '| red', '| blue', 'ask And why?', waitFor('never')]);
    await window.go('/');
    const row = rowOf(page, 'Needs you', id);
    await row.getByLabel('blue').check();
    await page.getByRole('link', { name: 'Board' }).click();
    await page.getByRole('link', { name: /^Now/ }).click();
    expect(await row.getByLabel('blue').isChecked()).toBe(true);

    // It asks and runs, so it has two rows; what came of an action is told in the one where it was asked for.
    await button(`Steer: ${id}`).click();
    await page.keyboard.type('hm');
    await page.keyboard.press('Enter');
    await rowOf(page, 'Running', id).locator('.feedback:not(.sending)').waitFor();
    expect(await page.locator('.feedback').count()).toBe(1);

    await button(`Answer: ${id}`).click();
    await reads(row, /And why/);
    const other = row.getByRole('textbox');
    await other.pressSequentially('because');
    await other.evaluate((it) => {
      it.dataset.mark = 'same';
    });
    const { questions } = await ask(scene, 'projects/live/questions');
    const question = questions.find((each: { issue_identifier: string }) => each.issue_identifier === id);
    expect(question.text).toBe('And why?');
    await command({
      kind: 'question_answer',
      question: question.id,
      values: Object.fromEntries(question.fields.map(({ name }: { name: string }) => [name, 'red'])),
    });
    await reads(row, /This is not asked any more/);
    await goOnTyping(other, 'because');
    await row.getByRole('button', { name: 'Discard' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await focus()).not.toBe('nowhere');
    window.expectNothingWrong();
  });

  it('a dialog keeps what was chosen and made empty in it, and is not closed by marking a text', async () => {
    const filed = ['--priority', '2', '--status', 'backlog'];
    const id = await scene.fileText('Edit me', 'the first text', ...filed);
    await window.go(`/issue/live/${id}`);
    await button(`Edit: ${id}`).click();
    const [priority, description] = [page.getByLabel('Priority'), page.getByLabel(/^Description/)];
    await priority.selectOption('');
    await description.fill('');
    await command({ kind: 'issue_edit', issue: id, title: 'Edit me again' });
    await reads(page.locator('h1'), /Edit me again/);
    expect([await priority.inputValue(), await description.inputValue()]).toEqual(['', '']);

    const box = await page.getByLabel('Title').boundingBox();
    await page.mouse.move((box?.x ?? 0) + 60, (box?.y ?? 0) + 10);
    await page.mouse.down();
    await page.mouse.move(5, (box?.y ?? 0) + 10, { steps: 3 });
    await page.mouse.up();
    expect(await page.locator('dialog[open]').count()).toBe(1);

    await page.keyboard.press('Escape');
    expect(await focus()).toBe(`Edit: ${id}`);
    await page.keyboard.press('Enter');
    expect([await priority.inputValue(), await description.inputValue()]).toEqual(['', '']);
    await button('Save').click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await ask(scene, `projects/live/issues/${id}`)).toMatchObject({ priority: null, description: null });
    window.expectNothingWrong();
  });

  it('a run is stopped where it is watched, and the address may say what somebody came for', async () => {
    await window.go('/');
    await page.getByRole('link', { name: 'Watch the run of BAT-1' }).click();
    await button('Steer: BAT-1').click();
    await page.keyboard.type('hold');
    await button('Stop: BAT-1').click();
    await page.waitForTimeout(450);
    await button('End its run? Stop: BAT-1').click();
    await reads(page.locator('.line-of-facts').first(), /stopped/);
    expect(await button('Stop: BAT-1').count()).toBe(0);
    expect(await field('Tell the agent').inputValue()).toBe('hold');

    await window.go('/issue/live/BAT-1?do=retry_with_note');
    await field('Note to the agent').waitFor();
    expect(await focus()).toBe('Note to the agent');
    expect(page.url()).not.toContain('do=');
    window.expectNothingWrong();
  });
});
