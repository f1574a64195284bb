import { mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { takeStateFolder } from '../../src/daemon/daemon-identity.ts';
import { RotatingFile } from '../../src/telemetry/rotating-file.ts';
import { memoryLogger } from '../fake/memory-logger.ts';

it('other users cannot read the log and the git caches of a state folder that the user made', () => {
  const state = path.join(mkdtempSync(path.join(tmpdir(), 'baton-modes-')), 'state');
  mkdirSync(state, { mode: 0o755 });
  const parts = { hostName: 'host', chance: systemChance, logger: memoryLogger() };
  const { release } = takeStateFolder(state, parts);
  const log = new RotatingFile({
    path: path.join(state, 'log', 'baton.log'),
    maxBytes: 1_000,
    maxFiles: 2,
    now: () => 0,
    onRotationFailure: () => {},
  });
  try {
    log.append('{}\n');
    const modes = ['git', 'log', 'log/baton.log'].map((name) => statSync(path.join(state, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o600]);
  } finally {
    log.close();
    release();
  }
});
