// @module-tag full
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { describeInChromium } from './chromium.ts';
import { ask, BoardScene, waitFor } from './scenes.ts';
import { barriersOf } from './screens.ts';
import { action, openWindow, patient, rowOf } from './window.ts';

leaveNoPlaces();

describeInChromium('a workflow file with several agents', (browser) => {
  const scene = new BoardScene();
  scene.place.replace(
    'WORKFLOW.md',
    scene.place.read('WORKFLOW.md').replace('agent:\n', 'agents: {careful: {backend: rehearsal}}\nagent:\n'),
  );
  beforeAll(() => scene.start(), 60_000);
  afterAll(() => scene[Symbol.dispose]());

  it('lets a person choose the agent of a retry', async () => {
    const issue = await scene.file('Fails first', ['first fail it breaks on purpose', waitFor('never')]);
    await using window = await openWindow(browser(), scene.url);
    const { page } = window;
    await window.go('/');
    await rowOf(page, 'waiting', issue).waitFor();
    await action(page, 'retry_with_agent', issue).click();
    const form = page.locator('form.note[data-part="retry_with_agent"]');
    await form.locator('select').selectOption('careful');
    expect(await barriersOf(page)).toEqual([]);
    await form.locator('button[type=submit]').click();
    const runs = async () => (await ask(scene, `projects/live/issues/${issue}`)).runs;
    const agents = async () =>
      (await runs()).map(({ agent, agent_reason }: Record<string, unknown>) => `${agent} ${agent_reason}`);
    await expect.poll(agents, patient).toEqual(['careful person', 'default default']);
    // The page of the run says which agent it has, and why.
    const [{ run_id }] = await runs();
    await window.go(`/run/live/${run_id}`);
    const reason = page.locator('[data-part="agent_reason"][data-code="person"]');
    await reason.waitFor();
    expect(await reason.locator('..').textContent()).toContain('careful');
    window.expectNothingWrong();
  });
});
