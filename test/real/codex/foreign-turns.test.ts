// @module-tag full
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { shell } from '../../fake/openai/scenario.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { useCodexScenes } from './codex-scene.ts';

/** How long a Codex that continues by itself may take to ask its model again; a tenth of that was observed. */
const aWhileMs = 2_000;

await describeWithCodex('turns that a real Codex starts by itself', (codex) => {
  const makeScene = useCodexScenes(codex);

  // @conforms codex.4
  it('does not start when its model sets a goal, not even after the thread is resumed', async () => {
    const goal = { name: 'create_goal', arguments: { objective: 'finish everything' } };
    const rules = [{ when: /GOAL/, steps: [{ calls: [goal] }, { message: 'a goal is set' }] }];
    const scene = await makeScene({ scenario: { rules } });
    const first = await scene.open();
    await first.complete('GOAL');
    const asked = scene.model.requests.length;
    await sleep(aWhileMs);
    expect(scene.model.requests).toHaveLength(asked);
    await first.session.stop();
    const second = await scene.open({ threadId: first.session.threadId });
    await sleep(aWhileMs);
    expect(scene.model.requests).toHaveLength(asked);
    expect(await second.complete('Go on.')).toBe('ok');
  });

  // @conforms codex.5
  it('ends its helpers with the turn that started them', async () => {
    const spawn = {
      name: 'spawn_agent',
      namespace: 'multi_agent_v1',
      arguments: { message: 'HELPER, go on for ever' },
    };
    const rules = [
      { when: /HELPER/, steps: [{ delayMs: 200, calls: [shell('true')] }] },
      { when: /MAIN/, steps: [{ calls: [spawn] }, { calls: [shell('sleep 1')] }, { message: 'main is done' }] },
    ];
    const scene = await makeScene({ scenario: { rules } });
    const { complete } = await scene.open();
    expect(await complete('MAIN')).toBe('main is done');
    // The helper was working.
    expect(scene.model.requests.length).toBeGreaterThan(3);
    // A request that it had started may still arrive.
    await sleep(aWhileMs);
    const asked = scene.model.requests.length;
    await sleep(aWhileMs);
    expect(scene.model.requests).toHaveLength(asked);
  });
});
