// @module-tag full
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, BoardScene, waitFor } from './scenes.ts';
import { action, goToScreen, openWindow, part, patient, reads, rowOf, type Window } from './window.ts';

leaveNoPlaces();

describeInChromium('updates do not interrupt typing, reading or the keyboard', (browser) => {
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
  /** The open field of this action. */
  const field = (name: string): Locator => page.locator(`form.note[data-part="${name}"] textarea`);
  /** A command by someone else, from another window. */
  const command = async (asked: object): Promise<void> => {
    const answer = await fetch(`${scene.url}/api/v1/projects/live/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    expect(await answer.json()).toMatchObject({ command: { status: 'done' } });
  };
  /** The focused element: a link by its name, a button by its action and issue, a field by its purpose. */
  const focus = (): Promise<string> =>
    page.locator(':focus').evaluateAll(([it]) => {
      if (it === undefined) return 'nowhere';
      const name = it.getAttribute('aria-label') ?? it.tagName;
      if (it.tagName === 'TEXTAREA') return `field ${it.closest('form')?.dataset.part}`;
      const isArmed = it.classList.contains('armed');
      const [about = ''] = /\b[A-Z]+-\d+\b/.exec(name) ?? [];
      return it.dataset.part === undefined ? name : `${isArmed ? 'armed ' : ''}${it.dataset.part} ${about}`.trim();
    });
  /** Continues typing letters that are also keys of the page; they must reach this field only. */
  const goOnTyping = async (where: Locator, before: string): Promise<void> => {
    await page.keyboard.type(' n g b j x ?');
    expect(await where.inputValue()).toBe(`${before} n g b j x ?`);
    expect(await where.evaluate((it) => [it.dataset.mark, it.matches(':focus')])).toEqual(['same', true]);
    expect(await page.locator('dialog[open]').count()).toBe(0);
  };
  const begin = async (name: string, id: string, text: string): Promise<Locator> => {
    await action(page, name, id).click();
    await page.keyboard.type(text);
    const typed = page.locator('form.note textarea[data-mark=same]');
    await field(name).evaluate((it) => {
      it.dataset.mark = 'same';
    });
    return typed;
  };
  /** The form says that its action is no longer possible, and offers another one. */
  const refuses = async (...others: readonly string[]): Promise<void> => {
    await expect.poll(() => page.locator(':not(.comments) > form.note button[type=submit]').count(), patient).toBe(0);
    for (const other of others) await part(page.locator('.note-state'), other).waitFor();
  };

  // @conforms dashboard.29
  it('keeps a typed message when its agent ends, and offers to send it as a note', async () => {
    const id = await scene.file('Ends first', [
      'say hello',
      waitFor('end'),
      'first fail it breaks on purpose',
      waitFor('never'),
    ]);
    await window.go('/');
    const steer = await begin('issue_steer', id, 'look left');
    scene.allow('end');
    await rowOf(page, 'waiting', id).waitFor();
    await goOnTyping(steer, 'look left');
    await refuses('retry_with_note');
    // Nothing is sent that the person did not intend.
    await page.keyboard.press('Control+Enter');
    expect(await steer.inputValue()).toBe('look left n g b j x ?');
    await part(page.locator('.note-state'), 'retry_with_note').click();
    expect(await focus()).toBe('field retry_with_note');
    await page.keyboard.press('Control+Enter');
    await rowOf(page, 'running', id).waitFor();
    await expect.poll(() => page.locator('.note').count(), patient).toBe(0);
    const { runs } = await ask(scene, `projects/live/issues/${id}`);
    const told = async (): Promise<string> =>
      JSON.stringify(await ask(scene, `projects/live/runs/${runs[0].run_id}/prompt`));
    await expect.poll(told, patient).toContain('look left n g b j x ?');
    window.expectNothingWrong();
  });

  // @conforms dashboard.30
  it('keeps a typed note when its retry starts, and offers to send it to the running agent', async () => {
    const id = await scene.file('Waits first', ['say hello', 'first fail it breaks on purpose', waitFor('never')]);
    await rowOf(page, 'waiting', id).waitFor();
    const note = await begin('retry_with_note', id, 'mind it');
    await command({ kind: 'issue_retry', issue: id });
    // An agent that has not started yet cannot receive a message.
    await rowOf(page, 'running', id)
      .getByText(/hello|until/)
      .waitFor();
    await goOnTyping(note, 'mind it');
    await refuses('issue_steer');
    await part(page.locator('.note-state'), 'issue_steer').click();
    await page.keyboard.press('Control+Enter');
    await rowOf(page, 'running', id).getByText('received: mind it n g b j x ?').waitFor();
    // The row that stayed for the note disappears with it; the focus moves to another row.
    await rowOf(page, 'waiting', id).waitFor({ state: 'detached' });
    await expect.poll(focus, patient).toMatch(/^BAT-\d: /);
    window.expectNothingWrong();
  });

  it('keeps text typed on the issue page when someone else stops its run', async () => {
    await page.getByRole('link', { name: 'BAT-2: Waits first' }).first().click();
    const steer = await begin('issue_steer', 'BAT-2', 'still there');
    await command({ kind: 'issue_stop', issue: 'BAT-2' });
    await part(page.locator('.why-here'), 'held').waitFor();
    await goOnTyping(steer, 'still there');
    await refuses();
    await page.keyboard.press('Escape');
    expect(await page.locator('.issue-commands .note').count()).toBe(0);
    await expect.poll(focus, patient).toMatch(/ BAT-2$/);
    window.expectNothingWrong();
  });

  // @conforms dashboard.32
  it('returns the focus to where it was, and from a removed row to the next one', async () => {
    await window.go('/');
    await action(page, 'issue_steer', 'BAT-1').click();
    await page.keyboard.press('Escape');
    expect(await focus()).toBe('issue_steer BAT-1');
    // A key that is held down opens the form, and sends nothing.
    await page.keyboard.down('Enter');
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    expect(await focus()).toBe('field issue_steer');
    await page.keyboard.type('a word');
    await page.keyboard.press('Control+Enter');
    await page.locator('.feedback.done').waitFor();
    expect(await focus()).toBe('issue_steer BAT-1');
    await part(page, 'dismiss').focus();
    await page.keyboard.press('Enter');
    expect(await focus()).toBe('BAT-1: Ends first');

    const stop = action(page, 'issue_stop', 'BAT-1');
    await stop.focus();
    await page.keyboard.down('Enter');
    // After this time a second press counts as a confirmation.
    await page.waitForTimeout(450);
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    expect(await focus()).toBe('armed issue_stop BAT-1');
    await page.keyboard.press('Escape');

    // A user who was typing when the field disappeared has not noticed yet, so no key acts on the page.
    await window.go('/board');
    await page.getByRole('searchbox').pressSequentially('nee');
    await page.locator(':focus').evaluate((it) => it.remove());
    await page.keyboard.type('gn');
    expect(await focus()).not.toBe('nowhere');
    expect(new URL(page.url()).pathname).toBe('/board');
    await page.waitForTimeout(1_100);
    await page.keyboard.type('gn');
    await rowOf(page, 'running', 'BAT-1').waitFor();

    const id = await scene.file('Held after it', [waitFor('never')]);
    await rowOf(page, 'running', id).waitFor();
    await command({ kind: 'issue_stop', issue: id });
    await rowOf(page, 'needs_you', id).waitFor();
    await action(page, 'issue_release', 'BAT-2').focus();
    await page.keyboard.press('Enter');
    await rowOf(page, 'needs_you', 'BAT-2').waitFor({ state: 'detached' });
    await expect.poll(focus, patient).toBe(`${id}: Held after it`);
    window.expectNothingWrong();
  });

  // @conforms dashboard.33
  it('keeps the open transcript when a newer run starts, offers the newer one, and can open older ones', async () => {
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
    await expect.poll(() => part(page, 'follow').getAttribute('aria-pressed'), patient).toBe('false');
    const before = await seen();
    const address = page.url();
    expect(address).toContain('run=');
    scene.allow('read');
    await part(page.locator('.why-here'), 'retry').waitFor();
    await page.locator('.why-here summary').click();
    for (const name of ['runs', 'failures']) await reads(page.locator(`.why-here [data-count="${name}"]`), /^1 /);
    await command({ kind: 'issue_retry', issue: id });
    await part(page, 'newest_run').waitFor();
    expect(await seen()).toEqual(before);
    expect(page.url()).toBe(address);
    await part(page, 'newest_run').click();
    await reads(log, /the second run speaks/);
    await page.locator('.run-choice select').selectOption({ index: 1 });
    await reads(log, /line 59 of the first run/);
    expect(page.url()).toBe(address);
    window.expectNothingWrong();
  });

  // @conforms dashboard.31
  it('keeps a typed answer even after someone else has answered', async () => {
    const id = await scene.file('Asks', ['ask Which colour?', '| red', '| blue', 'ask And why?', waitFor('never')]);
    await window.go('/');
    const row = rowOf(page, 'needs_you', id);
    await row.getByLabel('blue').check();
    await goToScreen(page, '/board');
    await goToScreen(page, '/');
    expect(await row.getByLabel('blue').isChecked()).toBe(true);

    // It asks and runs, and has one row, with the actions of both; the result of an action is shown there.
    await action(row, 'issue_steer', id).click();
    await page.keyboard.type('hm');
    await page.keyboard.press('Control+Enter');
    await row.locator('.feedback:not(.sending)').waitFor();
    expect(await page.locator('.feedback').count()).toBe(1);

    await action(page, 'question_answer', id).click();
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
    await part(row, 'discard').waitFor();
    await goOnTyping(other, 'because');
    await part(row, 'discard').click();
    await row.waitFor({ state: 'detached' });
    expect(await focus()).not.toBe('nowhere');
    window.expectNothingWrong();
  });

  // @conforms dashboard.34
  it('keeps choices and emptied fields in a dialog, and does not close it when text is selected', async () => {
    const filed = ['--priority', '2', '--status', 'backlog'];
    const id = await scene.fileText('Edit me', 'the first text', ...filed);
    await window.go(`/issue/live/${id}`);
    await action(page, 'issue_edit', id).click();
    const [priority, description] = [page.locator('[name=priority]'), page.locator('[name=description]')];
    await priority.selectOption('');
    await description.fill('');
    await command({ kind: 'issue_edit', issue: id, title: 'Edit me again' });
    await reads(page.locator('h1'), /Edit me again/);
    expect([await priority.inputValue(), await description.inputValue()]).toEqual(['', '']);

    const box = await page.locator('[name=title]').boundingBox();
    await page.mouse.move((box?.x ?? 0) + 60, (box?.y ?? 0) + 10);
    await page.mouse.down();
    await page.mouse.move(5, (box?.y ?? 0) + 10, { steps: 3 });
    await page.mouse.up();
    expect(await page.locator('dialog[open]').count()).toBe(1);

    await page.keyboard.press('Escape');
    expect(await focus()).toBe(`issue_edit ${id}`);
    await page.keyboard.press('Enter');
    expect([await priority.inputValue(), await description.inputValue()]).toEqual(['', '']);
    await page.locator('dialog button[type=submit]').click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await ask(scene, `projects/live/issues/${id}`)).toMatchObject({ priority: null, description: null });
    window.expectNothingWrong();
  });

  // @conforms dashboard.35
  it('stops a run from its own page, and opens the form that the address names', async () => {
    await window.go('/');
    await part(rowOf(page, 'running', 'BAT-1'), 'watch').click();
    await action(page, 'issue_steer', 'BAT-1').click();
    await page.keyboard.type('hold');
    await action(page, 'issue_stop', 'BAT-1').click();
    await page.waitForTimeout(450);
    await page.locator('button.armed[data-part="issue_stop"]').click();
    await expect.poll(() => part(page, 'issue_stop').count(), patient).toBe(0);
    expect(await field('issue_steer').inputValue()).toBe('hold');

    await window.go('/issue/live/BAT-1?do=retry_with_note');
    await field('retry_with_note').waitFor();
    expect(await focus()).toBe('field retry_with_note');
    expect(page.url()).not.toContain('do=');
    window.expectNothingWrong();
  });
});
