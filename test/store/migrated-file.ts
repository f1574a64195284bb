import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openStore } from '../../src/store/open-store.ts';

let empty: Promise<Buffer> | undefined;

/** Writes an empty store, as Baton makes it. Making the tables takes five times as long as copying them. */
export async function writeMigratedFile(file: string): Promise<void> {
  empty ??= makeEmpty();
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, await empty, { mode: 0o600 });
}

async function makeEmpty(): Promise<Buffer> {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-empty-store-'));
  const file = path.join(folder, 'baton.db');
  try {
    await (await openStore({ url: `sqlite:${file}`, clock: systemClock, mode: 'visitor' })).close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
