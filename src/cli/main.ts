#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { systemChance } from '../clock/system-chance.ts';
import { systemClock } from '../clock/system-clock.ts';
import { runCommandLine } from './command-line.ts';

// The one place that looks at the process it runs in. Everything below gets it as a value.
const packageFile = new URL('../../package.json', import.meta.url);
const extension = import.meta.filename.endsWith('.ts') ? 'ts' : 'js';

// A reader that has gone (`baton validate | head`) is no defect, and must not end Baton before its agents.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  clock: systemClock,
  chance: systemChance,
  env: process.env,
  cwd: process.cwd(),
  homeDir: homedir(),
  tmpDir: tmpdir(),
  timeZone: timeZone(),
  uid: process.getuid?.() ?? null,
  hostName: hostname(),
  userName: userName(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  batonPath: extension === 'ts' ? fileURLToPath(new URL('../../bin/baton', import.meta.url)) : 'baton',
  nodePath: process.execPath,
  nodeVersion: process.versions.node,
  platform: process.platform,
  version: JSON.parse(readFileSync(packageFile, 'utf8')).version,
  agentProgram: (backend) => new URL(`../agent/${backend}/program.${extension}`, import.meta.url),
  dashboardFolder: new URL(extension === 'ts' ? '../../dist/dashboard/' : '../dashboard/', import.meta.url),
  interrupt: () => void process.kill(process.pid, 'SIGINT'),
  onSignal: (signal, listener) => {
    process.on(signal, listener);
    return () => process.off(signal, listener);
  },
});

/** A container may have a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env.USER ?? 'somebody';
  }
}

/** A machine may be set to a time zone that has no name; its own is then as good as none. */
function timeZone(): string {
  const name: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return name === undefined || name === 'Etc/Unknown' ? 'UTC' : name;
}
