import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, besides, gate } from './scene.ts';

describe('a pause', () => {
  it.each(['pause', 'resume'])('applies even when the first answer to its %s could not be written', async (kind) => {
    let failures = 0;
    const stage = await begun({
      issues: [],
      through: (store) =>
        storeThrough(store, {
          before: (call) => {
            if (call !== 'commands.finish' || failures === 0) return;
            failures -= 1;
            throw new BatonError('store_busy', 'busy');
          },
        }),
    });
    if (kind === 'resume') await stage.command('pause');
    failures = 1;
    await stage.command(kind);
    stage.tracker.put(issue({ id: '1' }));
    await stage.clock.advance(30_000);
    expect(stage.orchestrator.read().paused === null).toBe(kind === 'resume');
    expect(stage.started()).toEqual(kind === 'resume' ? ['1'] : []);
  });

  it('is not lifted by a read of the store that began before it was written', async () => {
    const slow = gate();
    let isSlow = false;
    const stage = await begun({
      isShared: true,
      issues: [],
      through: (store) =>
        storeThrough(store, {
          after: async (call) => {
            if (!isSlow || call !== 'commands.latestDone') return;
            isSlow = false;
            await slow.passed;
          },
        }),
    });
    isSlow = true;
    await stage.clock.advance(100);
    await stage.command('pause');
    stage.tracker.put(issue({ id: '1' }));
    slow.open();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().paused).toMatchObject({ kind: 'pause' });
    await stage.clock.advance(1_000);
    expect(stage.started()).toEqual([]);
  });

  it('reaches every daemon of the store, and so does its end', async () => {
    const one = await begun({ isShared: true, owner: 'one', issues: [], settings: settings({ intervalMs: 1_000 }) });
    const other = await besides(one, { settings: settings({ intervalMs: 1_000 }) });
    await other.orchestrator.start();
    await one.command('pause', { reason: 'night' });
    await one.clock.advance(1_000);
    one.tracker.put(issue({ id: '1' }));
    await one.clock.advance(10_000);
    expect([one.started(), other.started()]).toEqual([[], []]);
    expect(other.orchestrator.read().paused).toMatchObject({ reason: 'night' });
    await other.command('resume');
    await one.clock.advance(2_000);
    expect([...one.started(), ...other.started()]).toEqual(['1']);
    expect(one.orchestrator.read().paused).toBeNull();
  });
});

it('waiting commands, however many, delay no other command and are not read in a loop', async () => {
  const stage = await begun({ issues: [], settings: settings({ intervalMs: 3_600_000 }) });
  let asked = 0;
  stage.tracker.fetchByIds = async () => {
    asked += 1;
    // A daemon that asks without end is let go in the end, so that this test ends too.
    if (asked < 1_000) throw new BatonError('tracker_status', 'HTTP 502');
    return [];
  };
  const author = { kind: 'person', name: 'me' } as const;
  for (let count = 0; count < 120; count += 1) {
    const draft = { id: `h${count}`, project: stage.project, kind: 'issue_hold', author, at: 0, key: null };
    await stage.store.commands.submit({ ...draft, payload: { issue: `unknown-${count}` } });
  }
  expect(await stage.command('pause')).toMatchObject({ status: 'done' });
  expect(await stage.store.commands.waiting(stage.project, 500)).toHaveLength(120);
  expect(asked).toBeLessThanOrEqual(480);
});
