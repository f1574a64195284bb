// @module-tag full
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { createBoard } from '../../src/tracker/board/board.ts';
import { inStore } from '../cli/asked-question.ts';
import { soon } from '../cli/live-daemon.ts';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { attacks, escapes, expectHarmlessPage, tricks } from './hostile-text.ts';
import { ask, BoardScene, script } from './scenes.ts';
import { action, openWindow, part, reads, rowOf, settled, type Window } from './window.ts';

leaveNoPlaces();

const inMarkdown = [
  '![seen](https://elsewhere.invalid/pixel.png)',
  '[press](javascript:window.hit=1)',
  '[press](JaVaScRiPt&colon;window.hit=1)',
  '[press](data:text/html,<script>window.hit=1</script>)',
  '<javascript:window.hit=1>',
  '[ref]: javascript:window.hit=1',
  '[ref]',
  'https://elsewhere.invalid/auto',
];
const deep = `${'> '.repeat(1_000)}deep\n\n${'- a\n'.repeat(10)}${'*_'.repeat(10_000)}\n${'['.repeat(20_000)}\n${'<b>'.repeat(10_000)}`;
const oneLine = `${attacks.slice(0, 3).join(' ')} ${tricks}`;
describeInChromium('a hostile issue', (browser) => {
  const scene = new BoardScene({ agent: ['  max_retry_backoff_ms: 600000'] });
  let window: Window;
  let page: Page;
  beforeAll(async () => {
    await scene.start();
    window = await openWindow(browser(), scene.url);
    page = window.page;
    const said = [...attacks, ...inMarkdown, tricks, escapes].flatMap((text) => [`say ${text}`]);
    const steps = [
      ...said,
      `comment ${[...attacks, ...inMarkdown, tricks].join(' ')}`,
      'write <img src=x onerror=window.hit=1>.txt',
      ...attacks.map((text) => `| ${text}`),
      `| ${tricks} ${escapes}`,
      `ask ${oneLine}`,
      `| <img src=x onerror=window.hit=1>`,
      `| ${tricks}`,
    ];
    const whole = [script(steps), ...attacks, ...inMarkdown, tricks, escapes].join('\n\n');
    await fileByStranger(scene, oneLine, whole);
    await scene.file(`${oneLine} fails`, ['say it fails', `fail ${oneLine} ${escapes}`]);
    await scene.fileText('Deep', `${whole}\n\n${deep}`, '--status', 'backlog');
    await scene.file(`${oneLine} waits`, [], '--blocked-by', 'BAT-1');
  }, 60_000);
  afterAll(async () => {
    await window?.[Symbol.asyncDispose]();
    scene[Symbol.dispose]();
  });
  const expectHarmless = async (where: string): Promise<void> => {
    await expectHarmlessPage(page, where);
    window.expectNothingWrong();
  };

  // @conforms dashboard.25
  it('runs no script, hides no text and sends no request elsewhere, on any screen', async () => {
    await window.go('/');
    const question = rowOf(page, 'needs_you', 'BAT-1');
    await action(question, 'question_answer', 'BAT-1').waitFor();
    await reads(question, /<script>window\.hit = 1<\/script>/);
    await reads(question, /abc⟦U\+202E⟧fed/);
    await rowOf(page, 'waiting', 'BAT-2').waitFor();
    await expectHarmless('now');
    const { runs } = await ask(scene, 'projects/live/runs?limit=10');
    const runOf = (id: string): string =>
      runs.find((run: { issue_identifier: string }) => run.issue_identifier === id)?.run_id ?? '';
    const tabs = {
      '/issue/live/BAT-1': ['timeline', 'transcript', 'diff', 'questions', 'messages', 'history', 'cost'],
      '/issue/live/BAT-2': ['timeline', 'transcript'],
      '/issue/live/BAT-3': ['timeline'],
      [`/run/live/${runOf('BAT-1')}`]: ['events', 'transcript', 'tools', 'diff', 'prompt'],
      [`/run/live/${runOf('BAT-2')}`]: ['events', 'transcript'],
      '/system': ['health', 'jobs', 'requests', 'accounts', 'configuration', 'prompts', 'salvage', 'commands'],
    };
    const shown = Object.entries(tabs).flatMap(([path, names]) => names.map((name) => `${path}?tab=${name}`));
    for (const path of ['/board', '/queue', '/costs', ...shown]) {
      await window.go(path);
      await settled(page);
      await expectHarmless(path);
    }
  });

  it('shows its text and links, and only names its image', async () => {
    await window.go('/issue/live/BAT-1?tab=description');
    const description = page.locator('.description');
    await reads(description, /<svg onload=window\.hit=1>/);
    await reads(description, /\bseen\b/);
    await reads(description, /␛\[31mred/);
    const link = description.getByRole('link', { name: 'https://elsewhere.invalid/auto' });
    expect(await link.getAttribute('rel')).toMatch(/noopener/);
    await window.go(`/issue/live/BAT-1?tab=diff`);
    await reads(page.locator('.diff-view'), /<img src=x onerror=window\.hit=1>\.txt/);
    await window.go('/issue/live/BAT-1?tab=transcript');
    await reads(page.locator('section.transcript'), /<iframe srcdoc/);
    await expectHarmless('transcript');
  });

  it('is marked as untrusted in the prompt, and can be answered and found', async () => {
    const { runs } = await ask(scene, 'projects/live/runs?limit=10');
    const run = runs.find((each: { issue_identifier: string }) => each.issue_identifier === 'BAT-1');
    await window.go(`/run/live/${run.run_id}?tab=prompt`);
    await reads(page.locator('section.untrusted'), /<script>window\.hit = 1<\/script>/);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('window.hit');
    await page.getByRole('option', { name: /BAT-1/ }).first().waitFor();
    await expectHarmless('palette');
    await part(page, 'search').click();
    await reads(page.locator('.found'), /BAT-1/);
    await expectHarmless('search');
    await window.go('/');
    const question = rowOf(page, 'needs_you', 'BAT-1');
    await question.getByText('<img src=x onerror=window.hit=1>', { exact: true }).click();
    await action(question, 'question_answer', 'BAT-1').click();
    await soon(async () => {
      const { questions } = await ask(scene, 'projects/live/issues/BAT-1');
      expect(questions[0]).toMatchObject({ state: 'answered' });
    });
    await expectHarmless('answered');
  });
});

/** Text that an agent filed is not trusted. */
async function fileByStranger({ place }: BoardScene, title: string, description: string): Promise<void> {
  await inStore(place, async (store, project) => {
    const parts = { store, project, prefix: 'BAT', clock: systemClock, chance: systemChance, onChange: () => {} };
    const fields = { title, description, priority: 1, labels: ['<img src=x onerror=window.hit=1>'] };
    await createBoard(parts).create(fields, { author: { kind: 'run', runId: 'run-of-a-stranger' }, reason: oneLine });
  });
}
