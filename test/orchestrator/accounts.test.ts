import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { RunOutcome } from '../../src/core/run/run.ts';
import { Accounts } from '../../src/orchestrator/runs/accounts.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { storeThrough } from './faulty-store.ts';

const { agent } = settings();
const account = { name: 'rehearsal', backend: agent.backend, env: {}, home: null };

function failed(code: 'agent_quota_exhausted' | 'agent_turn_failed'): RunOutcome {
  return { end: 'failed', turns: 1, error: new BatonError(code, 'failed') };
}

/** An account that was parked and that the run `trial` tries now, and a store that stops taking writes on request. */
async function onTrial(isShared: boolean) {
  const clock = new SimulatedClock();
  const store = await scratchStore(clock);
  const logger = memoryLogger();
  const disk = { isFull: false };
  const through = storeThrough(store, {
    before: (call) => {
      if (disk.isFull && call === 'transaction') throw new BatonError('store_full', 'full');
    },
  });
  const working: number[] = [];
  const accounts = new Accounts({
    clock,
    logger,
    isShared,
    store: through,
    chance: seededChance(1),
    onWorkingAgain: () => void working.push(clock.now()),
  });
  const start = (runId: string) =>
    store.transaction(async (tables) => {
      const refusal = await accounts.whyNoneIn(tables, agent);
      if (refusal === null) await accounts.take(tables, agent, { preferred: null, runId });
      return refusal;
    });
  const user = (runId: string) => ({ runId, account, startedAt: clock.now() });
  await accounts.runEnded(user('refused'), failed('agent_quota_exhausted'));
  await clock.advance(120_000);
  await start('trial');
  return { accounts, store, disk, logger, working, start, trial: user('trial') };
}

describe.each([
  { title: 'on a store of its own', isShared: false },
  { title: 'on a shared store', isShared: true },
])('a change of an account that could not be written, $title', ({ isShared }) => {
  it('lets the next run start after a good turn, and the start writes the change', async () => {
    const { accounts, store, disk, logger, working, start, trial } = await onTrial(isShared);
    expect(await store.accounts.list()).toMatchObject([{ parked: { probe: { by: 'trial' } } }]);
    disk.isFull = true;
    await accounts.turnCompleted(trial);
    expect(logger.events()).toContain('account_write_failed');
    expect(working).toHaveLength(1);
    expect(await start('next')).toBeNull();
    expect(await store.accounts.list()).toMatchObject([{ parked: null, parks: 0 }]);
  });

  it('is written with the next turn', async () => {
    const { accounts, store, disk, trial } = await onTrial(isShared);
    disk.isFull = true;
    await accounts.turnCompleted(trial);
    disk.isFull = false;
    await accounts.turnCompleted(trial);
    expect(await store.accounts.list()).toMatchObject([{ parked: null, parks: 0 }]);
  });

  it('lets another run try the account after the trial ended without a result', async () => {
    const { accounts, store, disk, start, trial } = await onTrial(isShared);
    disk.isFull = true;
    await accounts.runEnded(trial, failed('agent_turn_failed'));
    expect(await start('next')).toBeNull();
    expect(await store.accounts.list()).toMatchObject([{ parked: { probe: { by: 'next' } } }]);
  });
});
