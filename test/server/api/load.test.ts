// @module-tag full
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/clock/clock.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { Listening } from './load/listening.ts';
import { LoadScene, until, usedHeap } from './load/load-scene.ts';

const runs = 40;
const listeners = { count: 100, withRuns: 5, deaf: 5 };
const hearing = listeners.count - listeners.deaf;
const decisions = 15;
/** What a frame, its copies on their way and the rows of a few dozen runs take, several times over. */
const mostGrowthBytes = 24 * 2 ** 20;

/** Of several, the one in the middle: on a busy machine single ones tell nothing. */
async function medianDecision(scene: LoadScene): Promise<number> {
  const busy: number[] = [];
  for (let count = 0; count < decisions; count += 1) busy.push((await scene.decide()).busyMs);
  return busy.toSorted((left, right) => left - right)[Math.floor(decisions / 2)] ?? 0;
}

describe('the event stream under load', () => {
  // @conforms api.31
  it('sends a hundred listeners of forty streaming runs the same events, disconnects those that do not read, and delays no decision', {
    timeout: 120_000,
  }, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'baton-load-'));
    try {
      await using scene = await LoadScene.open({ folder, runs, eventsASecond: 20 });
      await using listening = new Listening();
      await scene.wait(3 * decisions);
      await medianDecision(scene);
      const without = await medianDecision(scene);
      await listening.open({ ...listeners, url: scene.url, runs: scene.runs().slice(-20) });
      const beside = await medianDecision(scene);
      expect(beside / without).toBeLessThan(5);

      // Those that do not read have more waiting for them than a listener may; the others are not disturbed by it.
      const before = await usedHeap();
      const told = scene.told;
      scene.setPayload(4_000);
      await until(async () => scene.told - told > 5_000, 'the runs do not tell');
      scene.setPayload(0);
      await listening.attend();
      await until(async () => (await listening.report()).deafCut === listeners.deaf, 'the deaf were not let go');
      expect((await listening.report()).hearing).toBe(hearing);

      // When nothing more is told, whoever comes fresh knows what all know that heard it bit by bit.
      scene.setTalking(false);
      await listening.open({ url: scene.url, count: 1, runs: [], withRuns: 0, deaf: 0 });
      await until(async () => (await listening.report()).states === 1, 'the listeners do not know the same');
      const last = await listening.report();
      expect(last).toMatchObject({ hearing: hearing + 1, unlike: 0, deafCut: listeners.deaf });
      expect(last.rows).toBeGreaterThan(runs);
      expect(last.events).toBeGreaterThan(5 * hearing);
      expect(last.runEvents).toBeGreaterThan(listeners.withRuns);
      await sleep(systemClock, 500);
      expect((await usedHeap()) - before).toBeLessThan(mostGrowthBytes);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
