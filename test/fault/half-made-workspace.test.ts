// @module-tag full
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { rejection } from '../workspace/scratch-folder.ts';
import { scratchWorkspaces, visit } from '../workspace/scratch-workspaces.ts';
import { patiently } from './patience.ts';

/** Waits for a file, ignores signals, and exits with this code. */
const slowHook = (code: number): string => `touch ../begun; while [ ! -e ../../go ]; do sleep 0.02; done; exit ${code}`;

// A daemon that was frozen past its lease continues in the middle of creating a workspace that another daemon has created
// in the meantime, and in which an agent of that daemon works.
describe.concurrent('a daemon that creates a workspace while another inherits its claim', () => {
  for (const [how, code] of [
    ['fails', 1],
    ['ends well', 0],
  ] as const) {
    // @conforms removal.9
    it(`leaves the new workspace alone when its hook ${how}`, async () => {
      const frozen = scratchWorkspaces({ hooks: { afterCreate: slowHook(code) } });
      const heir = scratchWorkspaces({ root: frozen.root });
      const making = frozen.workspaces.prepare(visit());
      making.catch(() => {});
      await patiently(() => expect(existsSync(path.join(frozen.root, 'begun'))).toBe(true));
      const taken = await heir.workspaces.prepare(visit());
      expect(taken.created).toBe(true);
      writeFileSync(path.join(taken.path, 'work.txt'), 'precious');
      writeFileSync(path.join(frozen.folder, 'go'), '');
      if (code === 0) await making;
      else expect((await rejection(making)).code).toBe('workspace_hook_failed');
      expect(readFileSync(path.join(taken.path, 'work.txt'), 'utf8')).toBe('precious');
    });
  }

  it('leaves the marker of the new owner, so that a crash of that one is noticed', async () => {
    const frozen = scratchWorkspaces({ hooks: { afterCreate: slowHook(0) } });
    const heirHook = 'touch ../heir-begun; while [ ! -e ../heir-go ]; do sleep 0.02; done';
    const heir = scratchWorkspaces({ root: frozen.root, hooks: { afterCreate: heirHook } });
    const making = frozen.workspaces.prepare(visit());
    await patiently(() => expect(existsSync(path.join(frozen.root, 'begun'))).toBe(true));
    const makingAgain = heir.workspaces.prepare(visit());
    await patiently(() => expect(existsSync(path.join(frozen.root, 'heir-begun'))).toBe(true));
    writeFileSync(path.join(frozen.folder, 'go'), '');
    await making;
    expect(readdirSync(frozen.root)).toContain('+making+T-1');
    writeFileSync(path.join(frozen.root, 'heir-go'), '');
    await makingAgain;
    expect(readdirSync(frozen.root)).not.toContain('+making+T-1');
  });
});
