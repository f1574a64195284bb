// @module-tag full
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces, Place, startBaton } from '../cli/run-baton.ts';
import { until } from '../process/real-children.ts';
import { describeInChromium } from './chromium.ts';
import { BoardScene, waitFor } from './scenes.ts';
import { action, openWindow, part, patient, reads, rowOf, type Window } from './window.ts';

leaveNoPlaces();

describeInChromium('the board of the dashboard', (browser) => {
  const scene = new BoardScene();
  let window: Window;
  let page: Page;
  let other: Window;
  beforeAll(async () => {
    await scene.start();
    for (const title of ['One', 'Two', 'Three']) await scene.file(title, [], '--status', 'backlog', '--label', 'small');
    window = await openWindow(browser(), scene.url);
    other = await openWindow(browser(), scene.url);
    page = window.page;
    await window.go('/board?open=done');
    await other.go('/board?open=done');
  }, 60_000);
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
    scene[Symbol.dispose]();
  });
  const column = (state: string, of: Page = page): Locator => of.locator(`section.column[data-part="${state}"]`);
  const card = (id: string, name: string, of: Page = page): Locator =>
    column(name, of).locator('.card', { has: of.locator('a', { hasText: new RegExp(`^${id}$`) }) });
  const link = (id: string, name: string): Locator => card(id, name).getByRole('link');
  const moveTo = (dialog: Locator, state: string): Locator =>
    dialog.getByRole('button', { name: new RegExp(`${state}$`) });

  // @conforms H13, dashboard.19
  it('files an issue with the keyboard alone, and another window shows it without a reload', async () => {
    await card('BAT-1', 'backlog').waitFor();
    const dialog = part(page, 'issue_file').and(page.getByRole('dialog'));
    await page.keyboard.press('n');
    await dialog.locator('[name=title]:focus').waitFor();
    await page.keyboard.type('A new wish');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Told in a *few* words');
    // Closed by mistake: the typed text is still there.
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    // Nothing had the focus before, and no row has it now.
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
    await page.keyboard.press('n');
    expect(await dialog.locator('[name=title]').inputValue()).toBe('A new wish');
    await dialog.locator('[name=priority]').selectOption('2');
    await dialog.locator('[name=labels]').fill('large, urgent');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    // Its agent has no script, so it asks what to do; the answer does not matter here.
    const anywhere = (of: Page): Locator => of.locator('.card', { hasText: 'A new wish' });
    await anywhere(page).waitFor();
    await anywhere(other.page).waitFor();
    await reads(anywhere(other.page), /P2\s+BAT-4[\s\S]*large, urgent/);
    window.expectNothingWrong();
  });

  it('moves an issue with a key and a number, and with the mouse', async () => {
    await link('BAT-1', 'backlog').focus();
    await page.keyboard.press('m');
    const dialog = page.getByRole('dialog', { name: /BAT-1\b/ });
    await reads(dialog, /done/);
    const number = await moveTo(dialog, 'done').locator('kbd').innerText();
    await page.keyboard.press(number);
    await card('BAT-1', 'done').waitFor();
    await card('BAT-1', 'done', other.page).waitFor();
    await card('BAT-2', 'backlog').dragTo(column('done'));
    await card('BAT-2', 'done').waitFor();
    await card('BAT-2', 'done', other.page).waitFor();
    await card('BAT-2', 'backlog').waitFor({ state: 'detached' });
    // The focus waits on a state that it may go to, although the first one is refused.
    await link('BAT-1', 'done').focus();
    await page.keyboard.press('m');
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-disabled') ?? null);
    await reads(
      page
        .getByRole('dialog', { name: /BAT-1\b/ })
        .getByRole('listitem')
        .first(),
      /backlog\s+\S+/,
    );
    await expect.poll(focused, patient).toBe('false');
    await page.keyboard.press('Escape');
    window.expectNothingWrong();
  });

  // @conforms dashboard.24
  it('refuses a forbidden move, shows the reason, and leaves the issue in its column', async () => {
    await link('BAT-3', 'backlog').focus();
    await page.keyboard.press('m');
    const dialog = page.getByRole('dialog', { name: /BAT-3\b/ });
    const refused = dialog.getByRole('listitem').filter({ hasText: 'review' });
    await reads(refused, /review\s+\S+/);
    expect(await refused.getByRole('button').getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('Escape');
    await card('BAT-3', 'backlog').dragTo(column('review'));
    await reads(page.locator('output.notice.refused'), /BAT-3[\s\S]*(todo|backlog|done)/);
    await card('BAT-3', 'backlog').waitFor();
    expect(await card('BAT-3', 'review').count()).toBe(0);
    // The daemon refuses with its status, which the browser logs by itself.
    expect(window.wrong.splice(0).filter((text) => !/the server responded with a status of 4\d\d/.test(text))).toEqual(
      [],
    );
  });

  it('keeps its filters in the address, so a reload and a shared link show the same', async () => {
    await page.getByRole('searchbox').fill('Three');
    await part(page, 'priority').selectOption('none');
    await page.waitForURL(/q=Three/);
    await expect.poll(() => page.locator('.card').count(), patient).toBe(1);
    await page.reload();
    await card('BAT-3', 'backlog').waitFor();
    await expect.poll(() => page.locator('.card').count(), patient).toBe(1);
    expect(await page.getByRole('searchbox').inputValue()).toBe('Three');
    await part(page, 'clear_filters').click();
    await expect.poll(() => page.locator('.card').count(), patient).toBe(4);
    window.expectNothingWrong();
  });

  it('applies one action to several selected issues', async () => {
    await card('BAT-1', 'done').getByRole('checkbox').click();
    await link('BAT-2', 'done').focus();
    await page.keyboard.press('x');
    const bar = page.getByRole('toolbar');
    await reads(bar, /\b2\b/);
    await part(bar, 'issue_move').click();
    await moveTo(page.getByRole('dialog'), 'todo').click();
    await expect.poll(() => column('done').locator('.card').count(), patient).toBe(0);
    await reads(page.locator('output.notice:not(.refused)'), /\b2\b.*\btodo\b/);
    window.expectNothingWrong();
  });

  // @conforms dashboard.40
  it('counts exactly the issues it acts on, hidden ones included, and selects nothing without focus', async () => {
    const hidden = await Promise.all(
      ['One', 'Two'].map((name) => scene.file(`Hidden ${name}`, [], '--status', 'backlog')),
    );
    for (const id of hidden) await card(id, 'backlog').waitFor();
    await page.locator('body').click({ position: { x: 2, y: 2 } });
    await page.evaluate(`document.activeElement.blur()`);
    await page.keyboard.press('x');
    const bar = page.getByRole('toolbar');
    expect(await bar.count()).toBe(0);
    for (const id of hidden) await card(id, 'backlog').getByRole('checkbox').click();
    await page.getByRole('searchbox').fill('Three');
    await expect.poll(() => page.locator('.card').count(), patient).toBe(1);
    // The number of selected issues, and of hidden ones among them.
    await reads(bar, /\b2\b[^\d]+\b2\b/);
    await part(bar, 'issue_move').click();
    await moveTo(page.getByRole('dialog', { name: /\b2\b/ }), 'done').click();
    await reads(page.locator('output.notice:not(.refused)'), /\b2\b.*\bdone\b/);
    expect(await bar.count()).toBe(0);
    await part(page, 'clear_filters').click();
    for (const id of hidden) await card(id, 'done').waitFor();
    window.expectNothingWrong();
  });

  it('keeps showing the old issues while a new filter loads, and says so', async () => {
    const hold = Promise.withResolvers<void>();
    await page.route(/\/issues\?/, async (route) => {
      await hold.promise;
      await route.continue();
    });
    const before = await page.locator('.card').count();
    await page.getByRole('searchbox').fill('Three');
    await page.locator('.toolbar output[aria-busy="true"]').waitFor();
    expect(await page.locator('.card').count()).toBe(before);
    hold.resolve();
    await expect.poll(() => page.locator('.card').count(), patient).toBe(1);
    await reads(page.locator('.toolbar output'), /^$/);
    await page.unroute(/\/issues\?/);
    await part(page, 'clear_filters').click();
    await expect.poll(() => page.locator('.card').count(), patient).toBe(before);
    window.expectNothingWrong();
  });

  // @conforms dashboard.41
  it('keeps the list of moves while the issue moves elsewhere, so a number always means what was read', async () => {
    const id = await scene.file('Moves elsewhere', [], '--status', 'backlog');
    await link(id, 'backlog').focus();
    await page.keyboard.press('m');
    const dialog = page.getByRole('dialog', { name: new RegExp(`${id}\\b`) });
    const choices = (): Promise<string[]> => dialog.getByRole('button').allInnerTexts();
    await reads(dialog, /review\s+\S+/);
    const before = await choices();
    const number = await moveTo(dialog, 'done').locator('kbd').innerText();
    await tell(scene, 'live', { kind: 'issue_move', issue: id, to: 'done' });
    await reads(dialog.getByRole('status'), /\bdone\b/);
    expect(await choices()).toEqual(before);
    // It is already there, so the number sends no command.
    await page.keyboard.press(number);
    expect(await dialog.count()).toBe(1);
    await page.keyboard.press('Escape');
    await card(id, 'done').waitFor();
    window.expectNothingWrong();
  });

  it('holds an issue and releases it', async () => {
    await window.go('/issue/live/BAT-3');
    await action(page, 'issue_hold', 'BAT-3').click();
    await part(page.locator('.why-here'), 'held').waitFor();
    await window.go('/');
    await action(rowOf(page, 'needs_you', 'BAT-3'), 'issue_release', 'BAT-3').click();
    await rowOf(page, 'needs_you', 'BAT-3').waitFor({ state: 'detached' });
    window.expectNothingWrong();
  });

  it('records a comment and an edit in the history with their author', async () => {
    await window.go('/issue/live/BAT-3?tab=history');
    await part(page, 'issue_comment').getByRole('textbox').fill('This one is *mine*');
    await page.keyboard.press('Control+Enter');
    await reads(page.locator('.past-list'), /This one is mine/);
    await page.keyboard.press('Escape');
    await page.locator('h1').click();
    await page.keyboard.press('e');
    const dialog = page.getByRole('dialog', { name: /BAT-3\b/ });
    await dialog.locator('[name=title]').fill('Three, said better');
    await dialog.locator('button[type=submit]').click();
    await page.getByRole('heading', { name: 'BAT-3 Three, said better' }).waitFor();
    await reads(page.locator('.past-list'), /title Three → Three, said better .*\S+/);
    await card('BAT-3', 'backlog', other.page).getByText('Three, said better').waitFor();
    other.expectNothingWrong();
    window.expectNothingWrong();
  });

  it('drains after a second press, and resumes again', async () => {
    await window.go('/');
    const drain = part(page, 'drain').and(page.getByRole('button'));
    await drain.click();
    await expect.poll(() => pressAgain(drain), patient).toBe(true);
    await part(page.locator('.vitals'), 'drain').waitFor();
    await part(page.locator('.vitals'), 'resume').click();
    await drain.waitFor();
    window.expectNothingWrong();
  });

  it('starts a waiting retry at once from the queue', async () => {
    const id = await scene.file('Fails once', ['spend 1000', 'fail on purpose']);
    await window.go('/queue');
    await action(page, 'issue_retry', id).click();
    await reads(page.locator('output.notice'), new RegExp(id));
    window.expectNothingWrong();
  });

  it('downloads a table of costs as a file', async () => {
    await window.go('/costs');
    const button = part(page, 'csv').first();
    const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
    expect(file.suggestedFilename()).toMatch(/\.csv$/);
    expect(readFileSync(await file.path(), 'utf8')).toMatch(/^\S+,.*tokens/im);
    window.expectNothingWrong();
  });

  it('labels the marks of a timeline with distinct times that never overlap, at any width', async () => {
    await window.go('/queue');
    await page.getByRole('link', { name: /Fails once/ }).click();
    await page.locator('.waterfall .axis span').first().waitFor();
    const size = page.viewportSize();
    for (const width of [1280, 1024, 920, 700, 390]) {
      await page.setViewportSize({ width, height: 860 });
      const marks = await page.evaluate<readonly Mark[]>(seenMarks);
      expect(marks.length, `at ${width}`).toBeGreaterThan(1);
      expect(new Set(marks.map(({ text }) => text)).size).toBe(marks.length);
      for (const [index, { left }] of marks.entries())
        if (index > 0) expect(left, `at ${width}`).toBeGreaterThanOrEqual(marks[index - 1]?.right ?? 0);
    }
    if (size !== null) await page.setViewportSize(size);
    window.expectNothingWrong();
  });

  it('declines a question, and its agent continues without an answer', async () => {
    const id = await scene.file('Asks', ['ask Which way?', '| left', '| right', 'say I decide it', waitFor('ever')]);
    await window.go('/');
    await action(rowOf(page, 'needs_you', id), 'question_decline', id).click();
    await rowOf(page, 'running', id).getByText('I decide it').waitFor();
    await rowOf(page, 'needs_you', id).waitFor({ state: 'detached' });
    window.expectNothingWrong();
  });

  it('shows a not-found page for an unknown address', async () => {
    await page.evaluate(`history.pushState(null, '', '/nowhere/at/all')`);
    await page.evaluate(`dispatchEvent(new PopStateEvent('popstate'))`);
    await part(page, 'not_found').getByRole('heading').waitFor();
    await part(page, 'not_found').getByRole('link').click();
    await part(page, 'needs_you').waitFor();
    await window.go('/issue/live/BAT-999');
    await page
      .getByText(/BAT-999/)
      .first()
      .waitFor();
    await part(page, 'missing').waitFor();
  });
});

describeInChromium('the boards of several projects', (browser) => {
  const place = new Place();
  const scene = { url: '' };
  let window: Window;
  let page: Page;
  beforeAll(async () => {
    // No issue has the label, so nothing starts.
    const boards = ['left', 'right'].map((name) => workflow(name, '{kind: board, required_labels: [nobody-has-it]}'));
    const mirror = workflow(
      'mirror',
      '{kind: memory, required_labels: [nobody-has-it], provider: {issues_file: i.json}}',
    );
    place.write('mirror/i.json', JSON.stringify([{ identifier: 'M-1', title: 'Of another', state: 'Todo' }]));
    const files = ['left', 'right', 'mirror'].map((name) => `${name}/WORKFLOW.md`);
    for (const [index, text] of [...boards, mirror].entries()) place.write(files[index] ?? '', text);
    const daemon = startBaton(place, 'start', ...files);
    const address = (): string | undefined => /"dashboard":"(?<url>http:[^"]+)"/.exec(daemon.stderr())?.groups?.url;
    const started = (): number => daemon.stderr().split('orchestrator_started').length - 1;
    await until(() => address() !== undefined && started() === files.length, 'every project works', 60_000);
    scene.url = address() ?? '';
    for (const project of ['left', 'right']) {
      const asked = { kind: 'issue_file', title: `First of ${project}` };
      expect(await tell(scene, project, asked)).toMatchObject({ command: { status: 'done' } });
    }
    window = await openWindow(browser(), scene.url);
    page = window.page;
  }, 90_000);
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });
  const board = (project: string): Locator => page.locator(`section[data-board="${project}"]`);
  const column = (project: string, state: string): Locator =>
    board(project).locator(`section.column[data-part="${state}"]`);
  const inTodo = (project: string): Locator => column(project, 'todo');

  // @conforms dashboard.38
  it('shows each board under its name, and treats the same identifier in two projects as two issues', async () => {
    await window.go('/board');
    await reads(inTodo('left'), /BAT-1[\s\S]*First of left/);
    await reads(inTodo('right'), /BAT-1[\s\S]*First of right/);
    await inTodo('right').getByRole('link', { name: 'BAT-1: First of right' }).focus();
    await page.keyboard.press('x');
    await reads(board('right').getByRole('toolbar'), /\b1\b/);
    expect(await board('left').getByRole('toolbar').count()).toBe(0);
    await page.keyboard.press('m');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /backlog$/ })
      .click();
    await reads(column('right', 'backlog'), /First of right/);
    await reads(inTodo('left'), /First of left/);
    window.expectNothingWrong();
  });

  it('files an issue into the board whose button was pressed, or that has the focus', async () => {
    await board('right').getByRole('button').and(part(page, 'issue_file')).click();
    await page.getByRole('dialog').locator('[name=title]').fill('By the button');
    await page.keyboard.press('Enter');
    await reads(inTodo('right'), /By the button/);
    await inTodo('right')
      .getByRole('link', { name: /By the button/ })
      .focus();
    await page.keyboard.press('n');
    await page.getByRole('dialog').locator('[name=title]').fill('By the key');
    await page.keyboard.press('Enter');
    await reads(inTodo('right'), /By the key/);
    expect(await inTodo('left').locator('.card').count()).toBe(1);
    window.expectNothingWrong();
  });

  // @conforms dashboard.39
  it('shows the board of another tracker read-only', async () => {
    await reads(board('mirror').locator('.read-only'), /\bmemory\b/);
    const card = board('mirror').locator('.card', { hasText: 'Of another' });
    await card.waitFor();
    expect(await card.getAttribute('draggable')).toBe('false');
    expect(await part(board('mirror'), 'issue_file').count()).toBe(0);
    await card.getByRole('link').focus();
    await page.keyboard.press('m');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await board('mirror').getByRole('link', { name: 'mirror', exact: true }).click();
    await page.waitForURL(/project=mirror/);
    await page.locator('.card', { hasText: 'Of another' }).waitFor();
    expect(await page.locator('.card').count()).toBe(1);
    window.expectNothingWrong();
  });

  it('names the project of an issue in the palette, and opens the form for a new issue there', async () => {
    await tell(scene, 'right', { kind: 'issue_move', issue: 'BAT-1', to: 'todo' });
    await window.go('/board');
    await inTodo('left').locator('.card').first().waitFor();
    await page.keyboard.press('Control+k');
    const palette = part(page, 'palette');
    // It has read which projects have a board. Enter runs what was first in the list when the person had typed.
    await part(palette, 'new/right').waitFor();
    await palette.getByRole('combobox').fill('hold bat-1');
    const options = palette.getByRole('option', { name: /\bBAT-1\b/ }).and(page.locator('[data-part$="/issue_hold"]'));
    await expect.poll(() => options.count(), patient).toBe(2);
    expect((await options.allInnerTexts()).map((text) => /left|right/.exec(text)?.[0]).sort()).toEqual([
      'left',
      'right',
    ]);
    await palette.getByRole('combobox').fill('new issue right');
    await part(palette, 'new/right').waitFor();
    await page.keyboard.press('Enter');
    await part(page, 'issue_file').locator('[name=title]').fill('By the palette');
    await page.keyboard.press('Enter');
    await reads(inTodo('right'), /By the palette/);
    window.expectNothingWrong();
  });
});

function workflow(name: string, tracker: string): string {
  return [
    '---',
    `project: {name: ${name}}`,
    `tracker: ${tracker}`,
    'polling: {interval_ms: 500}',
    'workspace: {root: workspaces}',
    'agent: {backend: rehearsal}',
    '---',
    'Work on {{ issue.identifier }}.',
  ].join('\n');
}

/** A command that another client sends. */
async function tell({ url }: { readonly url: string }, project: string, asked: object): Promise<unknown> {
  const body = JSON.stringify({ ...asked, key: randomUUID() });
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${url}/api/v1/projects/${project}/commands`, { method: 'POST', headers, body })).json();
}

/** Presses a button that asks for confirmation; true when it is gone. A press that was too soon does not count. */
async function pressAgain(button: Locator): Promise<boolean> {
  if ((await button.count()) === 0) return true;
  await button.click({ timeout: 1_000 }).catch(() => {});
  return (await button.count()) === 0;
}

interface Mark {
  readonly text: string;
  readonly left: number;
  readonly right: number;
}

/** Runs in the page: the visible labels of the axis. */
const seenMarks = `[...document.querySelectorAll('.waterfall .axis span')]
  .filter((mark) => mark.textContent !== '' && getComputedStyle(mark).color !== 'rgba(0, 0, 0, 0)')
  .map((mark) => ({ text: mark.textContent, left: mark.getBoundingClientRect().left, right: mark.getBoundingClientRect().right }))`;
