import { expect, it } from 'vitest';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { scene } from './scene.ts';

it('an issue whose account has no quota waits for it, spends no attempt and no slot, also over a restart', async () => {
  const options = {
    issues: [issue({ id: '1' }), issue({ id: '2' })],
    settings: settings({ intervalMs: 100, agent: { maxConcurrentAgents: 1 } }),
  };
  const first = await scene(options);
  await first.orchestrator.start();
  await first.clock.advance(0);
  first.runs[0]?.fail('agent_quota_exhausted');
  await first.clock.advance(0);
  expect(first.orchestrator.read()).toMatchObject({
    retrying: [],
    waitingQuota: [{ issue: { id: '1' }, attempt: null }],
    running: [{ issue: { id: '2' } }],
  });
  const [{ dueAt = 0 } = {}] = first.orchestrator.read().waitingQuota;

  const second = await scene({ ...options, store: first.store });
  await second.orchestrator.start();
  await second.clock.advance(0);
  expect(second.orchestrator.read().waitingQuota).toMatchObject([{ issue: { id: '1' }, dueAt }]);
  second.runs[0]?.succeed();
  await second.tracker.changes.moveIssue('2', 'Done', { kind: 'orchestrator' });
  await second.clock.advance(dueAt - second.clock.now() + 1);
  const last = second.runs.at(-1)?.request;
  expect(last).toMatchObject({ issue: { id: '1' }, attempt: null, retryKind: 'quota' });
});
