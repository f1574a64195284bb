import { hostname, userInfo } from 'node:os';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../src/cli/command-line.ts';
import type { Output } from '../../src/cli/surroundings.ts';
import type { Ended, Place } from './run-baton.ts';

const root = new URL('../../', import.meta.url);

/**
 * Runs a command of `baton` in this process, for what sets a scene or asks what became of it: a process for each costs
 * more than most commands do. It must be one that ends by itself. That each command does so, as a process, is shown by
 * `every-command.test.ts`.
 */
export async function batonHere(place: Place, ...args: string[]): Promise<Ended> {
  const texts = { stdout: '', stderr: '' };
  const output = (name: keyof typeof texts): Output => {
    const write = (text: string | Uint8Array): boolean => {
      texts[name] += text;
      return true;
    };
    // The part of a stream that commands use.
    return { write, isTTY: false, once: () => {} } as unknown as Output;
  };
  const code = await runCommandLine(args, {
    env: place.env,
    cwd: place.folder,
    homeDir: place.home,
    tmpDir: place.temporary,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    uid: process.getuid?.() ?? null,
    hostName: hostname(),
    userName: userInfo().username,
    // Nothing comes from it, and nobody sits before it.
    stdin: Object.assign(Readable.from([]), { isTTY: false }) as unknown as NodeJS.ReadStream,
    stdout: output('stdout'),
    stderr: output('stderr'),
    batonPath: fileURLToPath(new URL('bin/baton', root)),
    nodePath: process.execPath,
    nodeVersion: process.versions.node,
    platform: process.platform,
    version: '0.0.0',
    rehearsalProgram: new URL('src/agent/rehearsal/program.ts', root),
    dashboardFolder: new URL('dist/dashboard/', root),
    interrupt: () => {},
    onSignal: () => () => {},
  });
  return { code, signal: null, ...texts };
}
