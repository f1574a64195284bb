// @module-tag full
import { randomUUID } from 'node:crypto';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, BoardScene, script, waitFor } from './scenes.ts';
import { onPhone, visitEveryScreen } from './screens.ts';
import { action, band, openWindow, part, patient, reads, rowOf, settled, type Window } from './window.ts';

leaveNoPlaces();

describeInChromium('every screen of the dashboard', (browser) => {
  const scene = new BoardScene();
  let window: Window;
  let phone: Window;
  let page: Page;
  beforeAll(async () => {
    await scene.start();
    window = await openWindow(browser(), scene.url);
    phone = await openWindow(browser(), scene.url, onPhone);
    page = window.page;
  }, 60_000);
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await phone?.[Symbol.asyncDispose]();
    scene[Symbol.dispose]();
  });

  const command = async (asked: object): Promise<string> => {
    const body = JSON.stringify({ ...asked, key: randomUUID() });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${scene.url}/api/v1/projects/live/commands`, { method: 'POST', headers, body });
    const { command: done } = (await answer.json()) as { command: { facts: { identifier?: string } } };
    return done.facts.identifier ?? '';
  };
  const file = (title: string, steps: readonly string[], more: object = {}): Promise<string> =>
    command({ kind: 'issue_file', title, description: script(steps), ...more });
  const card = (id: string, of: Page = page): Locator =>
    of.locator('.card', { has: of.locator('a', { hasText: new RegExp(`^${id}$`) }) });
  const tooltip = (): Locator => part(page, 'tooltip');

  // @conforms dashboard.60
  it('is reached by mouse, by keys and on a phone, light and dark, without any issue', async () => {
    await visitEveryScreen(window, phone, ['/search?q=nothing', '/tasks?tab=learnings']);
    // There are no phases here.
    expect(await page.locator('nav.screens a[href^="/pipeline"]').count()).toBe(0);
  });

  let ids: Readonly<Record<'asks' | 'works' | 'fails' | 'blocked' | 'low' | 'urgent' | 'plain', string>>;
  it('is reached in the same ways with ten issues', async () => {
    const asks = await file('Asks first', ['ask Which way?', '| left', '| right', waitFor('asked')], { priority: 2 });
    const works = await file('Works on', ['say I work', waitFor('worked')], { priority: 1 });
    const fails = await file('Fails', ['spend 1000', 'fail on purpose']);
    const later = { status: 'backlog' };
    ids = {
      ...{ asks, works, fails },
      blocked: await file('Is blocked', [], { ...later, blocked_by: [works] }),
      low: await file('Low', [], { ...later, priority: 4 }),
      plain: await file('Plain', [], later),
      urgent: await file('Urgent', [], { ...later, priority: 1, labels: ['a label'] }),
    };
    for (const number of [8, 9, 10]) await file(`Number ${number}`, [], later);
    await window.go('/');
    await action(rowOf(page, 'needs_you', asks), 'question_answer', asks).waitFor();
    const { runs } = await ask(scene, 'projects/live/runs?limit=1');
    const pages = [`/issue/live/${asks}`, `/issue/live/${ids.blocked}`, `/run/live/${runs[0].run_id}`];
    await visitEveryScreen(window, phone, [...pages, '/search?q=Works']);
    // The pages without a key of their own, by keys alone.
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Works');
    await part(page, 'search').waitFor();
    const isChosen = async (): Promise<boolean> => {
      if ((await part(page, 'search').getAttribute('aria-selected')) === 'true') return true;
      await page.keyboard.press('ArrowDown');
      return false;
    };
    await expect.poll(isChosen, patient).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/search\?q=Works/);
    await page.keyboard.press('g');
    await page.keyboard.press('n');
    await rowOf(page, 'needs_you', asks).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/issue/live/${asks}`);
    window.expectNothingWrong();
  });

  // @conforms dashboard.61
  it('shows on a card who works on it, its question, its blockers and its age, in the order of starts', async () => {
    await window.go('/board');
    await reads(card(ids.asks), /\d (s|min)[\s\S]*Which way\?[\s\S]*asking[\s\S]*rehearsal/);
    await reads(card(ids.works), /P1[\s\S]*running[\s\S]*\d:\d\d[\s\S]*rehearsal/);
    await reads(card(ids.blocked), new RegExp(`${ids.works}[\\s\\S]*blocked`));
    await reads(card(ids.urgent), /a label/);
    const backlog = page.locator('section.column[data-part="backlog"] .card .title');
    expect((await backlog.allInnerTexts()).slice(0, 4)).toEqual(['Urgent', 'Low', 'Is blocked', 'Plain']);
    const edge = await card(ids.plain).evaluate((element) => getComputedStyle(element).borderTopWidth);
    expect(Number.parseFloat(edge)).toBeGreaterThan(0);
    // Finished columns stand at the end, folded, with their count.
    const columns = await page.locator('.board > [data-part]').evaluateAll((all) => all.map((each) => each.className));
    expect(columns.findIndex((name) => name.startsWith('folded'))).toBe(columns.length - 2);
    await reads(part(page, 'done'), /\b0\b/);
    await command({ kind: 'issue_move', issue: ids.low, to: 'done' });
    await reads(part(page, 'done'), /\b1\b/);
    window.expectNothingWrong();
  });

  // @conforms dashboard.62
  it('explains each action in a tooltip, under the pointer and at the focus', async () => {
    await window.go('/');
    await part(page, 'pause').hover();
    await reads(tooltip(), /\S{3}/);
    const pause = await tooltip().innerText();
    await part(page, 'drain').hover();
    await expect.poll(() => tooltip().innerText(), patient).not.toBe(pause);
    // The key that does the same.
    await reads(tooltip().locator('kbd'), /^d$/);
    await page.mouse.move(2, 400);
    await tooltip().waitFor({ state: 'hidden' });
    await part(page, 'show_keys').focus();
    await page.keyboard.press('Tab');
    await tooltip().waitFor();
    expect(await part(page, 'theme').getAttribute('aria-description')).toBe((await tooltip().innerText()).trim());
    await page.keyboard.press('Escape');
    await tooltip().waitFor({ state: 'hidden' });
    const silent: string[] = [];
    for (const path of ['/', '/board', '/queue', '/costs']) {
      await window.go(path);
      await settled(page);
      const parts = page.locator('button:is([data-part^="issue_"], [data-part^="retry_"]), button.quiet[data-part]');
      silent.push(
        ...(await parts.evaluateAll((all) =>
          all.filter((each) => !(each as HTMLElement).dataset.hint).map((each) => each.outerHTML),
        )),
      );
    }
    expect(silent).toEqual([]);
    window.expectNothingWrong();
  });

  it('has on Now the keys of the terminal view: answer, steer, stop and retry', async () => {
    await window.go('/');
    await rowOf(page, 'running', ids.works).waitFor();
    // A run that asks has one row, with its question.
    expect(await rowOf(page, 'running', ids.asks).count()).toBe(0);
    const key = async (row: Locator, name: string): Promise<void> => {
      await row.locator('[data-row]').focus();
      await page.keyboard.press(name);
    };
    const isInAnswer = (): Promise<boolean> => page.evaluate(() => Boolean(document.activeElement?.closest('.answer')));
    // The question comes before the buttons that end its run, with Tab and on a tablet.
    await key(rowOf(page, 'needs_you', ids.asks), 'Tab');
    expect(await isInAnswer()).toBe(true);
    await page.locator('h1').focus();
    await page.keyboard.press('a');
    expect(await isInAnswer()).toBe(true);
    const size = page.viewportSize();
    await page.setViewportSize({ width: 820, height: 1_100 });
    const topOf = async (name: string): Promise<number> =>
      (await action(rowOf(page, 'needs_you', ids.asks), name, ids.asks).boundingBox())?.y ?? 0;
    expect(await topOf('question_answer')).toBeLessThan(await topOf('issue_stop'));
    if (size !== null) await page.setViewportSize(size);
    const works = rowOf(page, 'running', ids.works);
    await key(works, 't');
    await page.keyboard.type('Go left');
    expect(await works.getByRole('textbox').inputValue()).toBe('Go left');
    await page.keyboard.press('Escape');
    await key(
      rowOf(page, 'waiting', ids.fails)
        .or(rowOf(page, 'needs_you', ids.fails))
        .first(),
      'r',
    );
    await expect.poll(() => page.locator('output.feedback').count(), patient).toBeGreaterThan(0);
    await page.keyboard.press('?');
    await reads(part(page, 'keys').locator('kbd'), /^a$[\s\S]*^t$[\s\S]*^s$[\s\S]*^r$/m);
    await page.keyboard.press('Escape');
    await key(works, 's');
    await expect.poll(() => pressedAgain(works), patient).toBe(true);
    await rowOf(page, 'needs_you', ids.works).waitFor();
    window.expectNothingWrong();
  });

  /** Stop asks first: the second press ends the run. Too soon a press does not count. */
  const pressedAgain = async (row: Locator): Promise<boolean> => {
    if ((await row.count()) === 0) return true;
    await page.keyboard.press('s');
    return false;
  };

  // @conforms dashboard.63
  it('moves a row to its next band for a moment, and not for a person who wants no motion', async () => {
    await using moving = await openWindow(browser(), scene.url, { reducedMotion: 'no-preference' });
    const spy = `const animate = Element.prototype.animate;
      window.moves = [];
      Element.prototype.animate = function (frames, options) {
        window.moves.push([this.dataset.issue, options.duration]);
        return animate.call(this, frames, options);
      };`;
    await moving.page.addInitScript(spy);
    await page.addInitScript(spy);
    for (const each of [window, moving]) {
      await each.go('/');
      await rowOf(each.page, 'needs_you', ids.works).waitFor();
    }
    await command({ kind: 'issue_retry', issue: ids.works });
    for (const each of [window, moving]) await rowOf(each.page, 'running', ids.works).waitFor();
    const moves = (of: Page): Promise<readonly [string, number][]> => of.evaluate('window.moves');
    await expect.poll(() => moves(moving.page), patient).not.toEqual([]);
    for (const [issue, ms] of await moves(moving.page)) {
      expect(issue).toMatch(/^live\//);
      expect(ms).toBeLessThanOrEqual(200);
    }
    expect(await moves(page)).toEqual([]);
    moving.expectNothingWrong();
    window.expectNothingWrong();
  });

  // @conforms dashboard.64
  it('opens on a phone on what needs the person, and on the first column that has something', async () => {
    await phone.go('/');
    const row = rowOf(phone.page, 'needs_you', ids.asks);
    await row.waitFor();
    const top = async (of: Locator): Promise<number> => (await of.boundingBox())?.y ?? 0;
    expect(await top(row)).toBeLessThan(await top(part(phone.page, 'pause')));
    await command({ kind: 'issue_move', issue: ids.plain, to: 'todo' });
    for (const { id } of await inBacklog()) await command({ kind: 'issue_move', issue: id, to: 'done' });
    await phone.go('/board');
    const first = phone.page.locator('section.column', { has: phone.page.locator('.card') }).first();
    await first.waitFor();
    await expect.poll(async () => Math.round((await first.boundingBox())?.x ?? -1), patient).toBeLessThan(40);
    expect(await first.getAttribute('data-part')).not.toBe('backlog');
    phone.expectNothingWrong();
  });

  const inBacklog = async (): Promise<readonly { readonly id: string }[]> => {
    const answer = await fetch(`${scene.url}/api/v1/projects/live/issues?state=backlog&limit=100`);
    return ((await answer.json()) as { issues: { id: string }[] }).issues;
  };

  // @conforms dashboard.65
  it('files an issue with a description of several lines and its blockers, and links to it', async () => {
    await window.go('/board');
    await card(ids.works).waitFor();
    await page.keyboard.press('n');
    const dialog = part(page, 'issue_file').and(page.getByRole('dialog'));
    await dialog.locator('[name=title]').fill('With a blocker');
    expect((await dialog.locator('textarea').boundingBox())?.height).toBeGreaterThan(120);
    await dialog.locator('[name=blockers]').fill(ids.works);
    await dialog.locator('[name=parent]').fill(ids.plain);
    await dialog.locator('[name=status]').selectOption('backlog');
    await dialog.locator('textarea').fill('One line\nand another');
    await page.keyboard.press('Control+Enter');
    await dialog.waitFor({ state: 'detached' });
    await reads(page.locator('.card', { hasText: 'With a blocker' }), new RegExp(ids.works));
    await page.locator('output.notice a').click();
    await page.getByRole('heading', { name: /With a blocker/ }).waitFor();
    const [filed, parent] = await Promise.all(
      [new URL(page.url()).pathname.split('/').at(-1), ids.plain].map((id) => ask(scene, `projects/live/issues/${id}`)),
    );
    expect(filed).toMatchObject({ parent_id: parent.id, description: 'One line\nand another' });
    window.expectNothingWrong();
  });

  it('says what to configure where a cost is not known, and names the issues', async () => {
    await window.go('/costs');
    await part(page, 'no_price').locator('summary').click();
    await reads(part(page, 'no_price').locator('pre'), /prices:/);
    await reads(page.locator('main'), new RegExp(`${ids.fails}\\s+Fails`));
    // Only the days with a run are in the table.
    expect(await page.locator('.scrolls tbody tr').count()).toBe(1);
    window.expectNothingWrong();
  });

  // @conforms dashboard.66
  it('says that a token is wrong, and not before one was typed', async () => {
    await using stranger = await openWindow(browser(), scene.url);
    // As a daemon on another machine answers.
    await stranger.page.route('**/api/v1/**', (route) =>
      route.fulfill({ status: 401, json: { error: { code: 'unauthorized', message: 'A token is needed.' } } }),
    );
    await stranger.go('/');
    const form = stranger.page.locator('main.token');
    await form.waitFor();
    expect(await form.locator('.problem').count()).toBe(0);
    await form.getByLabel('Token').fill('not-a-token');
    await stranger.page.keyboard.press('Enter');
    await form.locator('.problem').waitFor();
    expect(await form.getByLabel('Token').getAttribute('aria-invalid')).toBe('true');
  });

  // @conforms dashboard.67
  it('keeps in two windows what was shown, when Baton is killed and when it is stopped', async () => {
    const windows = [window, phone];
    for (const each of windows) await each.go('/');
    const rowCounts = (): Promise<number[]> =>
      Promise.all(windows.map((each) => band(each.page, 'needs_you').locator('li.row').count()));
    await expect.poll(async () => Math.min(...(await rowCounts())), patient).toBeGreaterThan(0);
    const stay = async (): Promise<void> => {
      for (const each of windows) await each.page.locator('.away').waitFor();
      for (const count of await rowCounts()) expect(count).toBeGreaterThan(0);
      for (const each of windows) expect(await each.page.locator('.vitals').count()).toBe(1);
    };
    await scene.kill();
    await stay();
    await scene.start();
    for (const each of windows) await each.page.locator('.away').waitFor({ state: 'detached' });
    await expect.poll(async () => Math.min(...(await rowCounts())), patient).toBeGreaterThan(0);
    scene.daemon.child.kill('SIGTERM');
    await scene.daemon.ended;
    await stay();
  });
});
