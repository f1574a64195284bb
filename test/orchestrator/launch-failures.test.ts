import { expect, it } from 'vitest';
import { settings } from '../fake/settings.ts';
import { begun, type Scene } from './scene.ts';

const minuteMs = 60_000;
const patient = settings({ intervalMs: 100, agent: { maxRetries: 9 } });

/** A second life, whose first run is to go on with the conversation of one that was cut short. */
async function cutShort(): Promise<Scene> {
  const first = await begun({ settings: patient });
  first.runs[0]?.request.report({ kind: 'session', threadId: 'thread-1' });
  first.runs[0]?.request.report({ kind: 'turn', turn: 1 });
  const stopping = first.orchestrator.stop();
  first.runs[0]?.end();
  await stopping;
  const next = await begun({ settings: patient, store: first.store, clock: first.clock, tracker: first.tracker });
  expect(next.runs[0]?.request).toMatchObject({ retryKind: 'interrupted', threadId: 'thread-1' });
  return next;
}

// @conforms runs.47
it('a run that could not be launched is retried in the conversation that it should have resumed, until one has a session', async () => {
  const stage = await cutShort();
  for (const attempt of [1, 2, 3]) {
    stage.runs.at(-1)?.failToLaunch();
    await stage.clock.advance(5 * minuteMs);
    expect(stage.runs.at(-1)?.request).toMatchObject({ retryKind: 'failure', attempt, threadId: 'thread-1' });
  }
  // Now it has one, and fails in it: that may be the fault of the conversation.
  const last = stage.runs.at(-1);
  last?.request.report({ kind: 'session', threadId: 'thread-1' });
  last?.request.report({ kind: 'turn', turn: 1 });
  last?.fail();
  await stage.clock.advance(5 * minuteMs);
  expect(stage.runs).toHaveLength(5);
  expect(stage.runs.at(-1)?.request).toMatchObject({ retryKind: 'failure', threadId: null });
});

it('a daemon that dies between two such failures does not change that', async () => {
  const stage = await cutShort();
  stage.runs[0]?.failToLaunch();
  await stage.clock.advance(5 * minuteMs);
  expect(stage.runs).toHaveLength(2);
  stage.kill();
  const next = await begun({ settings: patient, store: stage.store, clock: stage.clock, tracker: stage.tracker });
  await stage.clock.advance(5 * minuteMs);
  expect(next.runs.at(-1)?.request).toMatchObject({ retryKind: 'interrupted', threadId: 'thread-1' });
});

// @conforms runs.48
it('a recovery step that could not be launched is still taken', async () => {
  const contextRecovery = { reducedBudgetTokens: null, compact: true, freshStart: true, largerModel: null };
  const stage = await begun({ settings: settings({ intervalMs: 100, agent: { maxRetries: 9, contextRecovery } }) });
  stage.runs[0]?.request.report({ kind: 'session', threadId: 'thread-1' });
  stage.runs[0]?.fail('agent_context_exhausted');
  await stage.clock.advance(5 * minuteMs);
  for (const runs of [2, 3]) {
    expect(stage.runs).toHaveLength(runs);
    expect(stage.runs.at(-1)?.request).toMatchObject({ recovery: 'compact', threadId: 'thread-1' });
    stage.runs.at(-1)?.failToLaunch();
    await stage.clock.advance(5 * minuteMs);
  }
  // One that had its turn has taken it.
  stage.runs.at(-1)?.request.report({ kind: 'session', threadId: 'thread-1' });
  stage.runs.at(-1)?.fail();
  await stage.clock.advance(5 * minuteMs);
  expect(stage.runs.at(-1)?.request).toMatchObject({ recovery: null, threadId: null });
});
