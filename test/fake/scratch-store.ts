import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/clock/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { writeMigratedFile } from '../store/migrated-file.ts';

/** A real store on its own file, removed after the test. */
export async function scratchStore(clock: Clock): Promise<Store> {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-store-'));
  const file = path.join(folder, 'baton.db');
  await writeMigratedFile(file);
  const store = await openStore({ url: `sqlite:${file}`, clock, mode: 'visitor' });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return store;
}
