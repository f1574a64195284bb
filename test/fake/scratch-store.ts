import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/clock/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';

/** A real store on a file of its own, gone when the test is over. */
export async function scratchStore(clock: Clock): Promise<Store> {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-store-'));
  const store = await openStore({ url: `sqlite:${path.join(folder, 'baton.db')}`, clock, mode: 'visitor' });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return store;
}
