// @module-tag full
import { describe, expect, it } from 'vitest';
import { leaveNoPlaces } from '../cli/run-baton.ts';
import { statusNow } from './fault-daemon.ts';
import { NastyScene } from './nasty-scene.ts';
import { faultTest, patiently } from './patience.ts';
import { peakMemoryMiB } from './process-watch.ts';

leaveNoPlaces();

/**
 * A daemon whose agents print little takes about 130, and on a busy machine it collects its garbage late: 464 was seen.
 * Without a bound it would need as much as was printed, which is more than this.
 */
const mostMemoryMiB = 600;

// One after the other: each of them keeps a core busy.
describe('under a live daemon', faultTest, () => {
  it('an agent that prints 1 GB, half in long lines and half in one line, does not make the memory of the daemon grow', async () => {
    using scene = new NastyScene();
    const lines = `line=$(head -c 60000 /dev/zero | tr '\\0' x); yes "$line" | head -c 500000000`;
    const daemon = await scene.start(`${lines}; head -c 500000000 /dev/zero | tr '\\0' x`);
    expect(await scene.ended()).toMatchObject([{ outcome: 'succeeded' }]);
    expect(peakMemoryMiB(daemon.child.pid ?? 0)).toBeLessThan(mostMemoryMiB);
    await scene.check();
  });

  it('an agent that prints short lines at full speed leaves the daemon responsive and small', async () => {
    using scene = new NastyScene();
    const daemon = await scene.start('yes | head -n 1500000');
    await patiently(async () => {
      const { running } = await statusNow(scene.place);
      expect(running).toContainEqual(expect.objectContaining({ issue_identifier: scene.nasty, last_message: 'y' }));
    });
    expect(await scene.ended()).toMatchObject([{ outcome: 'succeeded' }]);
    expect(peakMemoryMiB(daemon.child.pid ?? 0)).toBeLessThan(mostMemoryMiB);
    await scene.check();
  });

  it('an agent that floods its error output does not make the memory of the daemon grow', async () => {
    using scene = new NastyScene();
    const daemon = await scene.start('head -c 800000000 /dev/zero >&2; exit 3');
    expect(await scene.ended()).toMatchObject([{ outcome: 'failed', error_code: 'agent_exited' }]);
    expect(peakMemoryMiB(daemon.child.pid ?? 0)).toBeLessThan(mostMemoryMiB);
    await scene.check();
  });
});
