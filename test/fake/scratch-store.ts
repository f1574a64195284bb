import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/clock/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';

/** A real store on its own file, removed after the test. */
export async function scratchStore(clock: Clock): Promise<Store> {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-store-'));
  const store = await openStore({ url: `sqlite:${path.join(folder, 'baton.db')}`, clock, mode: 'visitor' });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return store;
}
