import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { findOwnRun } from '../../../src/process/containment/inside-run.ts';
import { scratchFolder } from '../../workspace/scratch-folder.ts';

const { readFileSync } = fs;

/** Calls `action` directly after this file was read for the first time, before its reader has the text. */
function afterFirstRead(file: string, action: () => void): void {
  let isRead = false;
  const replaced = (...args: Parameters<typeof readFileSync>): ReturnType<typeof readFileSync> => {
    const text = readFileSync(...args);
    if (args[0] === file && !isRead) {
      isRead = true;
      action();
    }
    return text;
  };
  const restore = (): void => {
    fs.readFileSync = readFileSync;
    syncBuiltinESMExports();
  };
  onTestFinished(restore);
  fs.readFileSync = replaced as typeof readFileSync;
  syncBuiltinESMExports();
}

it.runIf(process.platform === 'linux')(
  'a program is not in a run because the session of another is that of its parent while that one starts',
  async () => {
    const before = await findOwnRun(systemClock);
    const go = path.join(scratchFolder(), 'go');
    // As Baton starts a program: first a child of this session, then with its own session, then with its markers.
    const script = 'while [ ! -e "$0" ]; do sleep 0.01; done; exec setsid env BATON_RUN_ID=run-7 sleep 60';
    const child = spawn('sh', ['-c', script, go], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const isMarked = (): boolean => readFileSync(`/proc/${child.pid}/environ`, 'latin1').includes('BATON_RUN_ID=run-7');
    let reads = 0;
    afterFirstRead(`/proc/${child.pid}/stat`, () => {
      reads += 1;
      fs.writeFileSync(go, '');
      while (!isMarked()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    });
    expect(await findOwnRun(systemClock)).toBe(before);
    expect(reads).toBe(1);
  },
);
