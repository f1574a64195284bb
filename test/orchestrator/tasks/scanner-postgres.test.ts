// @module-tag full
import { describe, expect, it, vi } from 'vitest';
import { onEngine } from '../../conformance/store.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { engines } from '../../store/engines.ts';
import { boardScene, minute, played, scanning, scansOf } from './scan-scene.ts';

describe('two daemons on PostgreSQL', () => {
  for (const engine of engines.filter(({ name }) => name === 'postgres'))
    onEngine(engine, 'with a scanner', ({ open, place }) => {
      // @conforms 4.111
      it('begin each scan once, and the other one goes on when the first is killed', async () => {
        const where = await place();
        const clock = new SimulatedClock({ startAt: Date.UTC(2026, 0, 1, 1) });
        const both = { ...played, clock, isShared: true, settings: scanning({ runsPerDay: 10, cooldownMs: minute }) };
        const one = await boardScene({ ...both, store: await open(where), owner: 'one' });
        const other = await boardScene({ ...both, store: await open(where), owner: 'other' });
        const standing = async () => ({
          runs: one.runs.length + other.runs.length,
          scans: (await scansOf(other)).map(({ status }) => status),
        });
        const reached = (expected: Awaited<ReturnType<typeof standing>>) =>
          vi.waitFor(
            async () => {
              await clock.advance(1_000);
              expect(await standing()).toEqual(expected);
            },
            { timeout: 30_000, interval: 5 },
          );
        await reached({ runs: 1, scans: ['proposed'] });
        for (let at = 0; at < 60; at += 1) {
          await clock.advance(1_000);
          expect(await standing()).toEqual({ runs: 1, scans: ['proposed'] });
        }
        one.kill();
        const [first] = await scansOf(other);
        await other.store.tasks.decide(
          { project: other.project, taskId: first?.id ?? '' },
          'refused',
          null,
          clock.now(),
        );
        await reached({ runs: 2, scans: ['proposed', 'refused'] });
        let isOver = false;
        void other.orchestrator.stop().then(() => {
          isOver = true;
        });
        await vi.waitFor(async () => {
          await clock.advance(100);
          expect(isOver).toBe(true);
        });
      }, 90_000);
    });
});
