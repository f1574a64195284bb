import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeSocketFolder, socketPath } from '../../src/server/socket-path.ts';
import { daemonAt } from '../fake/ask-daemon.ts';
import { fakeDaemon } from '../fake/fake-daemon.ts';

const far = `/${'deep/'.repeat(40)}state`;

/** A temporary folder as everybody's usually is. */
function sharedTmp(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'baton-shared-'));
  chmodSync(folder, 0o1777);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('the path of the local socket', () => {
  it('is in the state folder if the path is short enough', () => {
    const tmp = sharedTmp();
    const stateDir = path.join(tmp, 'some', 'state');
    expect(socketPath(stateDir, '/tmp')).toBe(path.join(stateDir, 'baton.sock'));
    makeSocketFolder(stateDir, '/tmp');
    expect(lstatSync(stateDir).mode & 0o777).toBe(0o700);
  });

  it('is otherwise in a separate private folder, one for each state folder', async () => {
    const tmp = sharedTmp();
    const socket = socketPath(far, tmp);
    expect(socket).toMatch(/\/baton-[0-9a-f]{16}\/baton\.sock$/);
    expect(socketPath(`${far}-2`, tmp)).not.toBe(socket);
    expect(lstatSync(path.dirname(socket), { throwIfNoEntry: false })).toBeUndefined();

    for (const requests of [1, 2]) {
      makeSocketFolder(far, tmp);
      expect(lstatSync(path.dirname(socket)).mode & 0o777).toBe(0o700);
      const budget = { requests_per_hour: requests, requests_per_day: null };
      const report = async (hours: number) => ({ hours, budget, providers: [], spenders: [] });
      await using _open = await fakeDaemon(socket, { requests: report });
      expect(await (await daemonAt(socketPath(far, tmp))).requests(1)).toMatchObject({ budget });
    }
  });

  const squats: Record<string, { problem: string; squat(folder: string): void }> = {
    'that everybody may write into': { problem: 'writable_by_others', squat: (folder) => makeFolder(folder, 0o777) },
    'that a group may write into': { problem: 'writable_by_others', squat: (folder) => makeFolder(folder, 0o770) },
    'that is a link to one of ours': {
      problem: 'not_a_folder',
      squat: (folder) => symlinkSync(mkdtempSync(`${folder}-`), folder),
    },
    'that is a link to nowhere': { problem: 'not_a_folder', squat: (folder) => symlinkSync('/nowhere', folder) },
    'that is a file': { problem: 'not_a_folder', squat: (folder) => writeFileSync(folder, '') },
  };

  // @conforms claims.29
  it.each(Object.entries(squats))('is refused in a folder %s', (_what, { problem, squat }) => {
    const tmp = sharedTmp();
    squat(path.dirname(socketPath(far, tmp)));
    expectRefused(tmp, problem);
  });

  // @conforms claims.29
  it.skipIf(process.geteuid?.() !== 0)('is refused in a folder of another user', () => {
    const tmp = sharedTmp();
    const folder = path.dirname(socketPath(far, tmp));
    makeFolder(folder, 0o700);
    chownSync(folder, 12_345, 12_345);
    expectRefused(tmp, 'another_user');
  });

  it('is refused where others could replace the folder', () => {
    const tmp = sharedTmp();
    makeSocketFolder(far, tmp);
    chmodSync(tmp, 0o777);
    expectRefused(tmp, 'replaceable_by_others');
  });

  it('cannot be created below a missing temporary folder, and the error names the folder', () => {
    const missing = path.join(sharedTmp(), 'missing');
    expect(() => makeSocketFolder(far, missing)).toThrow(
      expect.objectContaining({ code: 'local_socket_failed', message: expect.stringContaining(missing) }),
    );
  });

  /** Whatever the mask of the process is. */
  function makeFolder(folder: string, mode: number): void {
    mkdirSync(folder);
    chmodSync(folder, mode);
  }

  function expectRefused(tmp: string, problem: string): void {
    const details = expect.objectContaining({ problem });
    const refused = { code: 'socket_folder_unsafe', details };
    expect(() => socketPath(far, tmp)).toThrow(expect.objectContaining(refused));
    expect(() => makeSocketFolder(far, tmp)).toThrow(expect.objectContaining(refused));
  }
});
